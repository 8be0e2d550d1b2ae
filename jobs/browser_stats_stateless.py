"""Browser statistics, stateless: each micro-batch is counted by itself."""

import argparse
import sys
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_output_topic, add_streaming, add_window
from jobs.records.kafka_io import kafka_settings
from jobs.records.state import ROCKSDB
from jobs.records.stream import start_stream, to_console
from jobs.visits.browser_stats import BROWSER_VISITS, browser_stats


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_output_topic(parser, "browser-stats-stateless")
    add_window(parser, timedelta(minutes=5))
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""

    def write_stats(batch: DataFrame, number: int) -> None:  # noqa: ARG001
        writer = browser_stats(batch, options.window).write.format("kafka").options(**kafka_settings(options))
        writer.option("topic", options.output_topic).save()

    return start_stream(
        spark, options, BROWSER_VISITS, lambda good: good.select("record.*"), to_console(write_stats), "append"
    )


JOB = StreamingJob(
    name="browser-stats-stateless",
    summary="Counts visits per browser and window within each micro-batch alone.",
    example="""echo '{"browser": "Firefox", "eventTime": "2025-09-04T07:00:00Z"}' |
    headgate run browser-stats-stateless --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
