"""Asks a Kafka broker whether it still has what a rewind wants to read again."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headgate.rewind.checkpoint import KafkaOffsets
from headgate.rewind.errors import FailureError

ANSWER_SECONDS = 15.0


class Kept(NamedTuple):
    """The offsets that a partition has: from `first`, up to but without `end`."""

    first: int
    end: int


KeptOffsets = Callable[[str, int], Kept | None]


def lost_offsets(resume: KafkaOffsets, kept: KeptOffsets) -> str | None:
    """What of the offsets to resume from the broker no longer has, in words."""
    for topic, partitions in sorted(resume.items()):
        for partition, offset in sorted(partitions.items()):
            bounds = kept(topic, partition)
            if bounds is None:
                return f"Kafka has no partition {partition} of topic {topic} any more"
            if offset < bounds.first:
                return (
                    f"Kafka has deleted what is to be read again of {topic}, partition {partition}: the job would "
                    f"resume from offset {offset}, the first one left is {bounds.first}"
                )
            if offset > bounds.end:
                return (
                    f"{topic}, partition {partition} ends at offset {bounds.end}, before the {offset} to resume from: "
                    "the topic has been made anew"
                )
    return None


def broker_offsets(address: str, settings: Mapping[str, str]) -> KeptOffsets:
    """Asks the broker at HOST:PORT, each partition once."""
    # Only here: a rewind without --kafka needs no Kafka client.
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    unsettled = {
        "bootstrap.servers": address,
        "group.id": "headgate-rewind",
        "enable.auto.commit": False,
        "log_level": 0,
    }
    consumer = Consumer({**unsettled, **settings})
    gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC)
    answers: dict[tuple[str, int], Kept | None] = {}

    def ask(topic: str, partition: int) -> Kept | None:
        try:
            found = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=ANSWER_SECONDS)
        except KafkaException as error:
            if error.args[0].code() in gone:
                return None
            raise FailureError(
                f"Kafka at {address} did not say which offsets of {topic} it has ({error.args[0].str()}): correct the "
                "address, or leave --kafka out to go without this check."
            ) from None
        return Kept(*found)

    def kept(topic: str, partition: int) -> Kept | None:
        key = (topic, partition)
        if key not in answers:
            answers[key] = ask(topic, partition)
        return answers[key]

    return kept
