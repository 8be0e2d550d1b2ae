"""Visits counter, reprocessing: counts the windows of a past time range anew, from the table of raw visits."""

import argparse
import sys
import uuid
from datetime import timedelta
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from jobs.command.job import BatchJob, Refusal
from jobs.command.main import run_command
from jobs.command.options import add_kafka, add_output_topic, add_spark, add_table, add_window
from jobs.command.time_range import TimeRange, aligned_range
from jobs.records.kafka_io import kafka_settings
from jobs.records.records import with_rejection
from jobs.records.state import ROCKSDB
from jobs.visits.formats import NUMBERED_VISITS
from jobs.visits.published_counts import counts_for_kafka
from jobs.visits.raw_visits import rows_between
from jobs.visits.reprocessing_preview import show_preview
from jobs.visits.window_counts import count_by_window

NO_LIMIT = 2**31 - 1


def recount(raw: DataFrame, times: TimeRange, window: timedelta) -> DataFrame:
    """The counts of the windows in the range, by the logic that the stream counts with."""
    rows = rows_between(raw, times.start, times.end)
    judged = with_rejection(rows, NUMBERED_VISITS, NO_LIMIT)
    return count_by_window(judged.filter("rejection IS NULL").select("record.*"), window)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    parser.add_argument("start", metavar="START", help="the range's first moment, such as 2025-09-04T07:00:00")
    parser.add_argument("end", metavar="END", help="the first moment after the range: it is half-open")
    parser.add_argument(
        "--dry-run", action="store_true", help="only show each window's published count, its count now, the difference"
    )
    add_table(parser)
    add_output_topic(parser, "visits_counter")
    add_window(parser, timedelta(minutes=10))
    add_kafka(parser)
    add_spark(parser)


def check(options: argparse.Namespace) -> None:
    """Refuse a range that makes no sense and a table that is none."""
    aligned_range(options.start, options.end, options.window, options.time_zone)
    if "://" not in options.table and not (Path(options.table) / "_delta_log").is_dir():
        raise Refusal(f"{options.table} is not a Delta table: name the table that data-synchronization writes.")


def run(spark: SparkSession, options: argparse.Namespace) -> None:
    """Count the range anew and publish it, or show what would change."""
    times = aligned_range(options.start, options.end, options.window, options.time_zone)
    version = _newest_version(spark, options.table)
    raw = spark.read.format("delta").option("versionAsOf", version).load(options.table)
    counts = recount(raw, times, options.window)
    if options.dry_run:
        show_preview(spark, counts, times, options)
        return
    run_id = str(uuid.uuid4())
    records = counts_for_kafka(counts, "reprocessed", run_id=run_id, table_version=str(version)).persist()
    try:
        published = records.count()
        records.write.format("kafka").options(**kafka_settings(options)).option("topic", options.output_topic).save()
    finally:
        records.unpersist()
    print(
        f"Published {published} windows to {options.output_topic}, from version {version} of {options.table}, "
        f"as run {run_id}.",
        file=sys.stderr,
    )


def _newest_version(spark: SparkSession, table: str) -> int:
    return int(DeltaTable.forPath(spark, table).history(1).first()["version"])


JOB = BatchJob(
    name="visits-counter-reprocessing",
    summary="Counts the windows of a past time range anew from the Delta table, late events included, and publishes "
    "them to the topic of the stream's counts.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    headgate run data-synchronization --table visits_table --available-now --send -
headgate run visits-counter-reprocessing 2025-09-04T07:00:00 2025-09-04T07:10:00 --table visits_table""",
    add_options=add_options,
    run=run,
    check=check,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
