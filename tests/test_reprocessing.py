"""Reprocessing reads what it must and nothing else, whatever has been done to the table meanwhile."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.command.time_range import TimeRange
from jobs.visits.raw_visits import PARTITION_COLUMNS, raw_rows, rows_between
from jobs.visits_counter_reprocessing import recount

WINDOW = timedelta(minutes=10)
SEVEN = datetime(2025, 9, 4, 7, tzinfo=UTC)
HOUR = TimeRange(SEVEN, SEVEN + timedelta(hours=1))


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    made = spark.newSession()
    made.conf.set("spark.sql.session.timeZone", "UTC")
    return made


@pytest.fixture
def table(session: SparkSession, tmp_path: Path) -> str:
    """A visit every ten minutes from 06:05 to 08:55."""
    path = str(tmp_path / "visits_table")
    _add(session, path, [SEVEN - timedelta(minutes=55) + n * WINDOW for n in range(18)])
    return path


def _add(session: SparkSession, path: str, times: list[datetime], first_offset: int = 0) -> None:
    rows = [
        (f'{{"visit_id": 1, "event_time": "{time.isoformat()}"}}', time, 0, first_offset + number)
        for number, time in enumerate(times)
    ]
    frame = session.createDataFrame(rows, "value string, time timestamp, partition int, offset long")
    dated = frame.withColumn("record", F.struct(F.col("time").alias("event_time")))
    raw_rows(dated).coalesce(1).write.format("delta").mode("append").partitionBy(*PARTITION_COLUMNS).save(path)


def _read(session: SparkSession, path: str, version: int | None = None) -> DataFrame:
    reader = session.read.format("delta")
    return (reader if version is None else reader.option("versionAsOf", version)).load(path)


def _counts(raw: DataFrame, times: TimeRange = HOUR) -> dict[str, int]:
    counted = recount(raw, times, WINDOW).select(F.date_format("window.start", "HH:mm").alias("start"), "count")
    return {row["start"]: row["count"] for row in counted.collect()}


ONE_EACH = {f"07:{minute:02}": 1 for minute in range(0, 60, 10)}


def test_only_partitions_that_can_hold_the_range_are_read(session: SparkSession, table: str) -> None:
    rows = rows_between(_read(session, table), HOUR.start, HOUR.end)
    assert re.search(r"PartitionFilters: \[.*year", rows._jdf.queryExecution().executedPlan().toString())
    assert _files_scanned(rows) == 1
    assert _files_scanned(_read(session, table)) == 3


def _files_scanned(frame: DataFrame) -> int:
    """How many files the scan has read, once it has run."""
    execution = frame._jdf.queryExecution()
    execution.toRdd().count()
    return int(execution.executedPlan().collectLeaves().head().metrics().apply("numFiles").value())


def test_end_of_a_range_belongs_to_the_next(session: SparkSession, table: str) -> None:
    _add(session, table, [HOUR.end, HOUR.end - timedelta(microseconds=1)])
    assert _counts(_read(session, table)) == ONE_EACH | {"07:50": 2}


def test_late_events_that_come_while_it_runs_wait_for_the_next_run(session: SparkSession, table: str) -> None:
    started_on = _read(session, table, version=0)
    _add(session, table, [SEVEN + timedelta(minutes=3)])
    assert _counts(started_on) == ONE_EACH
    assert _counts(_read(session, table)) == ONE_EACH | {"07:00": 2}


def test_compacted_table(session: SparkSession, table: str) -> None:
    for number in range(3):
        _add(session, table, [SEVEN + timedelta(minutes=3)], first_offset=100 + number)
    DeltaTable.forPath(session, table).optimize().executeCompaction()
    assert _counts(_read(session, table)) == ONE_EACH | {"07:00": 4}


def test_vacuumed_table(session: SparkSession, table: str) -> None:
    _add(session, table, [SEVEN + timedelta(minutes=3)])
    delta = DeltaTable.forPath(session, table)
    delta.optimize().executeCompaction()
    before = len(list(Path(table).rglob("*.parquet")))
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    delta.vacuum(0)
    assert len(list(Path(table).rglob("*.parquet"))) < before
    assert _counts(_read(session, table)) == ONE_EACH | {"07:00": 2}


def test_table_with_a_wider_schema(session: SparkSession, table: str) -> None:
    wider = _read(session, table).limit(1).withColumn("event_time", F.lit(SEVEN + timedelta(minutes=3)))
    wider = wider.withColumn("value", F.lit('{"visit_id": 1, "event_time": "2025-09-04T07:03:00Z"}'))
    wider = wider.withColumn("hour", F.lit(7)).withColumn("headers", F.lit("new"))
    wider.write.format("delta").mode("append").option("mergeSchema", "true").save(table)
    assert "headers" in _read(session, table).columns
    assert _counts(_read(session, table)) == ONE_EACH | {"07:00": 2}
