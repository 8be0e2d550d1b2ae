"""A topic of one scenario, under a name of its own."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headgate.errors import StepFailure

QUIET = {"log_level": 0}


@dataclass(frozen=True)
class Event:
    """What is to be sent; without a partition it goes with the others of its step."""

    value: bytes | None
    key: bytes | None = None
    partition: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True)
class Sent:
    """Where an event ended up."""

    event: Event
    partition: int
    offset: int


@dataclass
class Topic:
    """What was sent to a topic and what has been read of it."""

    name: str
    real_name: str
    address: str
    partitions: int = 1
    exists: bool = False
    sends: int = 0
    sent: list[Sent] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    seen: list[Message] = field(default_factory=list)
    hidden: set[tuple[int, int]] = field(default_factory=set)
    """Partition and offset of records that no sentence is about."""

    def create(self, seconds: float, **config: str) -> None:
        """Make the topic on the broker."""
        admin = AdminClient({"bootstrap.servers": self.address, **QUIET})
        # Records may be given times of long ago, and must not be deleted for that.
        new = NewTopic(self.real_name, self.partitions, 1, config={"retention.ms": "-1", **config})
        try:
            admin.create_topics([new], operation_timeout=seconds)[self.real_name].result(timeout=seconds)
        except KafkaException as error:
            # A program has made it meanwhile.
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        self.exists = True

    def delete(self) -> None:
        """Ask the broker to forget the topic."""
        admin = AdminClient({"bootstrap.servers": self.address, **QUIET})
        admin.delete_topics([self.real_name])[self.real_name].exception(timeout=10)

    def forget_before(self, offset: int, seconds: float) -> None:
        """Delete the records of partition 0 before an offset."""
        admin = AdminClient({"bootstrap.servers": self.address, **QUIET})
        place = TopicPartition(self.real_name, 0, offset)
        admin.delete_records([place])[place].result(timeout=seconds)

    def send(self, events: Sequence[Event], seconds: float) -> None:
        """Send the events at once.

        Those of one partition go as one batch, which a reader sees whole or not at all, as when somebody pastes
        them into the console producer. Steps take turns with the partitions.
        """
        shared = self.sends % self.partitions
        self.sends += 1
        failed: list[str] = []
        arrived: list[Sent] = []

        def note(event: Event, error: KafkaError | None, message: Message) -> None:
            if error is not None:
                failed.append(str(error))
            else:
                arrived.append(Sent(event, message.partition(), message.offset()))

        producer = Producer(
            {"bootstrap.servers": self.address, "linger.ms": 10_000, "message.max.bytes": 8_000_000, **QUIET}
        )
        for event in events:
            producer.produce(
                self.real_name,
                value=event.value,
                key=event.key,
                partition=shared if event.partition is None else event.partition,
                headers=list(event.headers),
                # Kafka takes 0 for now.
                timestamp=int(event.timestamp.timestamp() * 1000) if event.timestamp else 0,
                on_delivery=lambda error, message, event=event: note(event, error, message),
            )
        left = producer.flush(seconds)
        if left or failed:
            raise StepFailure(
                f"{left or len(failed)} of {len(events)} events did not arrive in topic '{self.name}' "
                f"within {seconds:g} s: {', '.join(sorted(set(failed))) or 'no answer'}"
            )
        self.sent.extend(arrived)

    def read_on(self, seconds: float) -> list[Message]:
        """Everything in the topic that was not read before."""
        consumer = Consumer(
            {"bootstrap.servers": self.address, "group.id": "headgate-reader", "enable.auto.commit": False}
            | {"fetch.wait.max.ms": 10, "fetch.error.backoff.ms": 10, **QUIET}
        )
        try:
            fresh = self._read_to_end(consumer, seconds)
        finally:
            consumer.close()
        fresh = [message for message in fresh if (message.partition(), message.offset()) not in self.hidden]
        self.seen.extend(fresh)
        return fresh

    def _read_to_end(self, consumer: Consumer, seconds: float) -> list[Message]:
        deadline = time.monotonic() + seconds
        listed = consumer.list_topics(self.real_name, timeout=seconds).topics[self.real_name]
        ends: dict[int, int] = {}
        for partition in listed.partitions:
            place = TopicPartition(self.real_name, partition)
            low, ends[partition] = consumer.get_watermark_offsets(place, timeout=seconds)
            self.positions[partition] = max(low, self.positions.get(partition, 0))
        consumer.assign([TopicPartition(self.real_name, p, at) for p, at in self.positions.items()])
        fresh: list[Message] = []
        while any(self.positions[p] < end for p, end in ends.items()):
            if time.monotonic() > deadline:
                raise StepFailure(f"Topic '{self.name}' could not be read to its end within {seconds:g} s")
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                fresh.append(message)
                self.positions[message.partition()] = message.offset() + 1
        return fresh


def topics_of(address: str, suffix: str, seconds: float) -> dict[str, int]:
    """The topics of one scenario that the broker has, with their partitions."""
    known = AdminClient({"bootstrap.servers": address, **QUIET}).list_topics(timeout=seconds).topics
    return {name: len(about.partitions) for name, about in known.items() if name.endswith(f"-{suffix}")}
