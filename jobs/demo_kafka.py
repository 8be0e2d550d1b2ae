"""The embedded Kafka of a job that was given none: its topics, what is sent to it first, what came out."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from jobs.job import BatchJob, StreamingJob
from sandbox.embedded import EmbeddedKafka

INPUT_PARTITIONS = 2
ANSWER_SECONDS = 30


@contextmanager
def demo_kafka(job: StreamingJob | BatchJob, options: argparse.Namespace) -> Iterator[None]:
    """A broker for this run alone, with the topics that the options name."""
    kafka = EmbeddedKafka()
    try:
        options.kafka = kafka.address
        topics = _topics(job, options)
        _create(kafka.address, topics)
        print(f"Embedded Kafka at {kafka.address}, topics {', '.join(topics)}; it ends with the job.", file=sys.stderr)
        if getattr(options, "send", None):
            _send(options)
        yield
        if hasattr(options, "output_topic"):
            _show(options)
    finally:
        kafka.stop()


def _topics(job: StreamingJob | BatchJob, options: argparse.Namespace) -> dict[str, int]:
    topics = {options.topic: INPUT_PARTITIONS} if hasattr(options, "topic") else {}
    if hasattr(options, "output_topic"):
        topics[options.output_topic] = 1
    return {**topics, **getattr(job, "extra_topics", {})}


def _create(address: str, topics: dict[str, int]) -> None:
    wanted = [NewTopic(name, partitions, 1) for name, partitions in topics.items()]
    admin = AdminClient({"bootstrap.servers": address})  # held until all is made
    for made in admin.create_topics(wanted).values():
        made.result(ANSWER_SECONDS)


def _send(options: argparse.Namespace) -> None:
    text = sys.stdin.buffer.read() if options.send == "-" else Path(options.send).read_bytes()
    producer = Producer({"bootstrap.servers": options.kafka})
    for number, line in enumerate(filter(None, text.splitlines())):
        producer.produce(options.topic, line, partition=number % INPUT_PARTITIONS)
        producer.poll(0)
    producer.flush(ANSWER_SECONDS)


def _show(options: argparse.Namespace) -> None:
    """Print what the job has sent, which is gone with the broker."""
    consumer = Consumer({"bootstrap.servers": options.kafka, "group.id": "sluice", "enable.partition.eof": True})
    consumer.assign([TopicPartition(options.output_topic, 0, 0)])
    print(f"{options.output_topic}:")
    while (message := consumer.poll(ANSWER_SECONDS)) is not None and not message.error():
        print((message.key() or b"").decode(errors="replace"), (message.value() or b"").decode(errors="replace"))
    consumer.close()
