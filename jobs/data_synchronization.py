"""Data synchronization: every raw visit, as it came from Kafka, in a Delta table partitioned by its event time."""

import argparse

from pyspark.sql import SparkSession

from jobs.job import ShowBatch, StreamingJob
from jobs.options import add_streaming, add_table
from jobs.raw_visits import PARTITION_COLUMNS, raw_rows
from jobs.running import RunningJob
from jobs.stream import start_stream, to_delta
from jobs.visits import DATED_RECORDS

# Every record that can be dated is kept, however long.
MAX_VALUE_BYTES = 64 * 1024 * 1024


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_table(parser)
    add_streaming(parser, max_value_bytes=MAX_VALUE_BYTES)


def start(spark: SparkSession, options: argparse.Namespace, show: ShowBatch) -> RunningJob:  # noqa: ARG001
    """Start the job."""
    return start_stream(spark, options, DATED_RECORDS, raw_rows, to_delta(options, PARTITION_COLUMNS), "append")


JOB = StreamingJob(
    name="data-synchronization",
    summary="Copies every raw visit from Kafka to a Delta table, partitioned by the hour of its event time.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    sluice data-synchronization --table visits_table --available-now --send -""",
    add_options=add_options,
    start=start,
)
