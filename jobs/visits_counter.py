"""Visits counter: the final count of each window, sent to Kafka when the watermark has closed it."""

import argparse
from datetime import timedelta

from pyspark.sql import SparkSession

from jobs.job import ShowBatch, StreamingJob
from jobs.options import add_output_topic, add_streaming, add_watermark, add_window
from jobs.published_counts import counts_for_kafka
from jobs.running import RunningJob
from jobs.state import ROCKSDB
from jobs.stream import start_stream, to_kafka
from jobs.text import spark_interval
from jobs.visits import NUMBERED_VISITS
from jobs.window_counts import count_by_window


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_output_topic(parser, "visits_counter")
    add_window(parser, timedelta(minutes=10))
    add_watermark(parser, timedelta(minutes=20))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace, show: ShowBatch) -> RunningJob:  # noqa: ARG001
    """Start the job."""
    return start_stream(
        spark,
        options,
        NUMBERED_VISITS,
        lambda good: counts_for_kafka(
            count_by_window(
                good.select("record.*").withWatermark("event_time", spark_interval(options.watermark)), options.window
            ),
            kind="stream",
        ),
        to_kafka(options),
        "append",
    )


JOB = StreamingJob(
    name="visits-counter",
    summary="Counts visits per tumbling window and sends each window's count to Kafka once it is closed.",
    example=r"""printf '%s\n' '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' \
    '{"visit_id": 1, "event_time": "2025-09-04T08:00:00Z"}' |
    sluice visits-counter --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)
