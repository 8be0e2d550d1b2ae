"""The embedded Kafka of a job that was given none: its topics, what is sent to it first, what came out."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headgate.kafka.embedded import EmbeddedKafka

INPUT_PARTITIONS = 2
ANSWER_SECONDS = 30
LONGEST_SHOWN = 200
# What a job prints must not be mixed with its client's log.
QUIET = {"log_level": 0}


@contextmanager
def demo_kafka(options: argparse.Namespace) -> Iterator[None]:
    """A broker for this run alone, with the topics that the options name."""
    kafka = EmbeddedKafka()
    try:
        options.kafka = kafka.address
        topics = _topics(options)
        _create(kafka.address, topics)
        print(f"Embedded Kafka at {kafka.address}, topics {', '.join(topics)}; it ends with the job.", file=sys.stderr)
        if getattr(options, "send", None):
            _send(options)
        yield
        _show_output(options)
    finally:
        kafka.stop()


def _topics(options: argparse.Namespace) -> dict[str, int]:
    topics = {options.topic: INPUT_PARTITIONS} if hasattr(options, "topic") else {}
    if hasattr(options, "output_topic"):
        topics[options.output_topic] = 1
    return topics


def _create(address: str, topics: dict[str, int]) -> None:
    wanted = [NewTopic(name, partitions, 1) for name, partitions in topics.items()]
    admin = AdminClient({"bootstrap.servers": address, **QUIET})  # held until all is made
    for made in admin.create_topics(wanted).values():
        made.result(ANSWER_SECONDS)


def _send(options: argparse.Namespace) -> None:
    text = sys.stdin.buffer.read() if options.send == "-" else Path(options.send).read_bytes()
    producer = Producer({"bootstrap.servers": options.kafka, **QUIET})
    for number, line in enumerate(filter(None, text.splitlines())):
        key, value = _key_and_value(line)
        producer.produce(options.topic, value, key, partition=number % INPUT_PARTITIONS)
        producer.poll(0)
    producer.flush(ANSWER_SECONDS)


def _key_and_value(line: bytes) -> tuple[bytes | None, bytes | None]:
    """The value alone, or as the generator prints it: the key, a tab, and the value or NULL."""
    key, tab, value = line.partition(b"\t")
    if not tab or line.startswith(b"{"):
        return None, line
    return key, None if value == b"NULL" else value


def _show_output(options: argparse.Namespace) -> None:
    """Print what the job has sent, which is gone with the broker."""
    if hasattr(options, "output_topic"):
        print(f"{options.output_topic}:")
        for message in _records(options.kafka, options.output_topic):
            print(_text(message.key()), _text(message.value()))
    if hasattr(options, "dead_letter_topic"):
        for message in _records(options.kafka, options.dead_letter_topic):
            reason = _text(dict(message.headers() or []).get("reason"))
            print(f"rejected, {reason}: {_text(message.value())[:LONGEST_SHOWN]}", file=sys.stderr)


def _records(address: str, topic: str) -> Iterator[Message]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "headgate", "enable.partition.eof": True, **QUIET})
    try:
        if topic in consumer.list_topics(timeout=ANSWER_SECONDS).topics:
            consumer.assign([TopicPartition(topic, 0, 0)])
            while (message := consumer.poll(ANSWER_SECONDS)) is not None and not _is_end(message):
                # A broker that does not know the topic yet says so first.
                if message.error() is None:
                    yield message
    finally:
        consumer.close()


def _is_end(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF


def _text(value: bytes | None) -> str:
    return "null" if value is None else value.decode(errors="replace")
