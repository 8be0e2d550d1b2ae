"""Visits windows counter: how many visits each window has so far, printed as it changes."""

import argparse
from datetime import timedelta

from pyspark.sql import SparkSession

from jobs.console import print_batch
from jobs.job import ShowBatch, StreamingJob
from jobs.options import add_streaming, add_watermark, add_window
from jobs.running import RunningJob
from jobs.state import ROCKSDB
from jobs.stream import start_stream, to_console
from jobs.text import spark_interval
from jobs.visits import NUMBERED_VISITS
from jobs.window_counts import count_by_window


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_window(parser, timedelta(minutes=10))
    add_watermark(parser, timedelta(minutes=20))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace, show: ShowBatch) -> RunningJob:
    """Start the job."""
    return start_stream(
        spark,
        options,
        NUMBERED_VISITS,
        lambda good: count_by_window(
            good.select("record.*").withWatermark("event_time", spark_interval(options.watermark)), options.window
        ),
        to_console(show),
        "update",
    )


JOB = StreamingJob(
    name="visits-windows-counter",
    summary="Counts visits per tumbling window and prints every window that a batch has changed.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    sluice visits-windows-counter --available-now --send -""",
    add_options=add_options,
    start=start,
    show=print_batch,
    settings=ROCKSDB,
)
