"""Shows what a reprocessing run would change: each window's published count, its count now, the difference."""

import argparse
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

from jobs.command.time_range import TimeRange
from jobs.records.kafka_io import kafka_settings

PUBLISHED = "window struct<start: timestamp, end: timestamp>, count bigint"


@dataclass(frozen=True)
class Change:
    """One window: what consumers have of it, by whom, and what it is now."""

    start: datetime
    end: datetime
    published: int | None
    published_by: str | None
    now: int

    @property
    def difference(self) -> int:
        """How much the count grows."""
        return self.now - (self.published or 0)


def show_preview(spark: SparkSession, counts: DataFrame, times: TimeRange, options: argparse.Namespace) -> None:
    """Print the table."""
    zone = ZoneInfo(options.time_zone)
    table = Table(
        "window", "published", "by", "now", "difference", title=f"Dry run: {options.output_topic} is left as is"
    )
    found = changes(published_counts(spark, times, options), counts)
    for change in found:
        start, end = (time.astimezone(zone).isoformat(timespec="minutes") for time in (change.start, change.end))
        published = "-" if change.published is None else str(change.published)
        table.add_row(
            f"{start} to {end}", published, change.published_by or "-", str(change.now), f"{change.difference:+d}"
        )
    console = Console(width=140)
    console.print(table if found else "There is no visit in this range, and no count of it was published.")


def published_counts(spark: SparkSession, times: TimeRange, options: argparse.Namespace) -> DataFrame:
    """The latest published count of every window in the range: start, end, published, published_by."""
    topic = (
        spark.read.format("kafka")
        .options(**kafka_settings(options))
        .option("subscribe", options.output_topic)
        .option("includeHeaders", "true")
        .load()
    )
    read = topic.withColumn("read", F.from_json(F.col("value").cast("string"), PUBLISHED))
    start, end = F.col("read.window.start"), F.col("read.window.end")
    in_range = read.filter((start >= F.lit(times.start)) & (end <= F.lit(times.end)))
    # A key stays in its partition, so its latest record is the one with the highest offset.
    latest = F.max_by(F.struct(F.col("read.count").alias("count"), _header("kind").alias("kind")), "offset")
    return (
        in_range.groupBy(start.alias("start"), end.alias("end"))
        .agg(latest.alias("latest"))
        .select("start", "end", F.col("latest.count").alias("published"), F.col("latest.kind").alias("published_by"))
    )


def changes(published: DataFrame, counts: DataFrame) -> list[Change]:
    """Every window that was published or has visits now, in order."""
    now = counts.select("window.start", "window.end", F.col("count").alias("now"))
    rows = (
        published.join(now, ["start", "end"], "full_outer")
        .orderBy("start")
        .select(*[F.unix_timestamp(edge).alias(edge) for edge in ("start", "end")], "published", "published_by", "now")
    )
    return [
        Change(
            datetime.fromtimestamp(row["start"], UTC),
            datetime.fromtimestamp(row["end"], UTC),
            row["published"],
            row["published_by"],
            row["now"] or 0,
        )
        for row in rows.collect()
    ]


def _header(name: str) -> Column:
    value = F.element_at(F.filter("headers", lambda header: header["key"] == name), 1)["value"]
    return value.cast("string")
