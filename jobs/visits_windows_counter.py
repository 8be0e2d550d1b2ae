"""Visits windows counter: how many visits each window has so far, printed as it changes."""

import argparse
import sys
from datetime import timedelta

from pyspark.sql import SparkSession

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_streaming, add_watermark, add_window
from jobs.command.text import spark_interval
from jobs.records.console import print_batch
from jobs.records.state import ROCKSDB
from jobs.records.stream import start_stream, to_console
from jobs.visits.formats import NUMBERED_VISITS
from jobs.visits.window_counts import count_by_window


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_window(parser, timedelta(minutes=10))
    add_watermark(parser, timedelta(minutes=20))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""
    return start_stream(
        spark,
        options,
        NUMBERED_VISITS,
        lambda good: count_by_window(
            good.select("record.*").withWatermark("event_time", spark_interval(options.watermark)), options.window
        ),
        to_console(print_batch),
        "update",
    )


JOB = StreamingJob(
    name="visits-windows-counter",
    summary="Counts visits per tumbling window and prints every window that a batch has changed.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    headgate run visits-windows-counter --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
