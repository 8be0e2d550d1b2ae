"""Browser statistics, stateful: counts grow from micro-batch to micro-batch until the watermark closes a window."""

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
from jobs.visits.browser_stats import BROWSER_VISITS, browser_stats


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_output_topic(parser, "browser-stats-stateful")
    add_window(parser, timedelta(minutes=5))
    add_watermark(parser, timedelta(minutes=20))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""
    return start_stream(
        spark,
        options,
        BROWSER_VISITS,
        lambda good: browser_stats(
            good.select("record.*").withWatermark("eventTime", spark_interval(options.watermark)), options.window
        ),
        to_kafka(options),
        "update",
    )


JOB = StreamingJob(
    name="browser-stats-stateful",
    summary="Counts visits per browser and window over all micro-batches, until the watermark closes the window.",
    example="""echo '{"browser": "Firefox", "eventTime": "2025-09-04T07:00:00Z"}' |
    headgate run browser-stats-stateful --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
