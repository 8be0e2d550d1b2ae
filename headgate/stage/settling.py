"""Knows when a query is done with what is there, without waiting for its next trigger."""

import json
from collections.abc import Callable
from functools import cache

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql.streaming import StreamingQuery

from headgate.stage.topic import QUIET, topics_of

KAFKA_SOURCE = "KafkaV2["
MOVES_BY_ITSELF = ("Rate", "TextSocket")


def caught_up(address: str, suffix: str, seconds: float) -> Callable[[StreamingQuery], bool]:
    """Tells of a query without state whether its last batch ended where the scenario's topics end now.

    A query with state may have a batch without data to come; only Spark knows, at the next trigger.
    """
    ends = cache(lambda: _ends(address, suffix, seconds))

    def is_caught_up(query: StreamingQuery) -> bool:
        report = query.lastProgress
        if report is None or report.stateOperators:
            return False
        return all(
            source.description.startswith(KAFKA_SOURCE) and _is_at(json.loads(source.endOffset or "{}"), ends())
            for source in report.sources
        )

    return is_caught_up


def moves_by_itself(query: StreamingQuery) -> bool:
    """Whether the query has a source in which something is always new."""
    report = query.lastProgress
    return report is None or any(source.description.startswith(MOVES_BY_ITSELF) for source in report.sources)


def _is_at(offsets: dict[str, dict[str, int]], ends: dict[str, dict[str, int]]) -> bool:
    return bool(offsets) and all(topic in ends and offsets[topic] == ends[topic] for topic in offsets)


def _ends(address: str, suffix: str, seconds: float) -> dict[str, dict[str, int]]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "headgate-reader", **QUIET})
    try:
        return {
            topic: {
                str(partition): consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=seconds)[1]
                for partition in range(partitions)
            }
            for topic, partitions in topics_of(address, suffix, seconds).items()
        }
    finally:
        consumer.close()
