"""Visits counter: the final count of each window, sent to Kafka when the watermark has closed it."""

import argparse
import sys
from datetime import timedelta

from pyspark.sql import SparkSession

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_output_topic, add_streaming, add_watermark, add_window
from jobs.command.text import spark_interval
from jobs.records.state import ROCKSDB
from jobs.records.stream import start_stream, to_kafka
from jobs.visits.formats import NUMBERED_VISITS
from jobs.visits.published_counts import counts_for_kafka
from jobs.visits.window_counts import count_by_window


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_output_topic(parser, "visits_counter")
    add_window(parser, timedelta(minutes=10))
    add_watermark(parser, timedelta(minutes=20))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
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
    headgate run visits-counter --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
