"""Data synchronization: every raw visit, as it came from Kafka, in a Delta table partitioned by its event time."""

import argparse
import sys

from pyspark.sql import SparkSession

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_streaming, add_table
from jobs.records.stream import start_stream, to_delta
from jobs.visits.formats import DATED_RECORDS
from jobs.visits.raw_visits import PARTITION_COLUMNS, raw_rows

# Every record that can be dated is kept, however long.
MAX_VALUE_BYTES = 64 * 1024 * 1024


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_table(parser)
    add_streaming(parser, max_value_bytes=MAX_VALUE_BYTES)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""
    return start_stream(spark, options, DATED_RECORDS, raw_rows, to_delta(options, PARTITION_COLUMNS), "append")


JOB = StreamingJob(
    name="data-synchronization",
    summary="Copies every raw visit from Kafka to a Delta table, partitioned by the hour of its event time.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    headgate run data-synchronization --table visits_table --available-now --send -""",
    add_options=add_options,
    start=start,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
