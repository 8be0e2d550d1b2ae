"""Reprocessing one hour of a year-long table, against scanning it all: `python -m benchmarks.reprocess_one_hour`."""

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

from headgate.spark.session import spark_session
from jobs.command.time_range import TimeRange
from jobs.records.records import with_rejection
from jobs.visits.formats import NUMBERED_VISITS
from jobs.visits.raw_visits import PARTITION_COLUMNS, raw_rows
from jobs.visits.window_counts import count_by_window
from jobs.visits_counter_reprocessing import NO_LIMIT, recount

YEAR = datetime(2025, 1, 1, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
HOUR = TimeRange(datetime(2025, 9, 4, 7, tzinfo=UTC), datetime(2025, 9, 4, 8, tzinfo=UTC))


def main() -> None:
    """Make the table, then count one hour of it twice: by its partition, and by scanning it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=365 * 24, help="how long the table is (%(default)s)")
    parser.add_argument("--visits-per-hour", type=int, default=600, help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="the best of so many counts (%(default)s)")
    options = parser.parse_args()
    spark = spark_session("reprocess-one-hour", "local[2]", {"spark.sql.session.timeZone": "UTC"})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits_table")
        making = _seconds(lambda: make_table(spark, path, options.hours, options.visits_per_hour))
        raw = spark.read.format("delta").load(path)
        by_partition, pruned = _best(options.runs, lambda: recount(raw, HOUR, WINDOW))
        by_scan, scanned = _best(options.runs, lambda: scan_all(raw, HOUR, WINDOW))
        assert pruned == scanned, "both ways must count the same"
        partitions = len(list(Path(path).glob("year=*/month=*/day=*/hour=*")))
    table = Table(
        "what", "seconds", title=f"{options.hours * options.visits_per_hour:,} visits, {partitions:,} partitions"
    )
    table.add_row("make the table", f"{making:.1f}")
    table.add_row("one hour, from its partition", f"{by_partition:.2f}")
    table.add_row("one hour, scanning it all", f"{by_scan:.2f}")
    table.add_row("times faster", f"{by_scan / by_partition:.1f}")
    Console(width=100).print(table)
    spark.stop()


def make_table(spark: SparkSession, path: str, hours: int, visits_per_hour: int) -> None:
    """Visits spread evenly over the hours, as data-synchronization would write them."""
    seconds = F.lit(int(YEAR.timestamp())) + (F.col("id") * 3600 / visits_per_hour).cast("long")
    visits = spark.range(hours * visits_per_hour).withColumn("time", F.timestamp_seconds(seconds))
    value = F.to_json(F.struct((F.col("id") % 1000).alias("visit_id"), F.col("time").alias("event_time")))
    records = visits.select(
        value.alias("value"),
        F.lit(0).alias("partition"),
        F.col("id").alias("offset"),
        F.struct(F.col("time").alias("event_time")).alias("record"),
    )
    rows = raw_rows(records).repartitionByRange(48, "event_time")
    rows.write.format("delta").partitionBy(*PARTITION_COLUMNS).save(path)


def scan_all(raw: DataFrame, times: TimeRange, window: timedelta) -> DataFrame:
    """The same count without the help of partitions: every value of the table is read, as the document's job does."""
    judged = with_rejection(raw, NUMBERED_VISITS, NO_LIMIT).filter("rejection IS NULL").select("record.*")
    time = F.col("event_time")
    return count_by_window(judged.filter((time >= F.lit(times.start)) & (time < F.lit(times.end))), window)


def _best(runs: int, count: object) -> tuple[float, list[object]]:
    results: list[object] = []

    def collect() -> None:
        results[:] = sorted(count().collect())  # type: ignore[operator]

    return min(_seconds(collect) for _ in range(runs)), results


def _seconds(action: object) -> float:
    started = time.perf_counter()
    action()  # type: ignore[operator]
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
