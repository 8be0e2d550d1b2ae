"""The Delta table of raw visits: one row a Kafka record, in the partition of its event's hour.

Hours are UTC's: a local clock shows one hour twice when summer time ends.
"""

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.command.utc import utc_clock

PARTITION_COLUMNS = ["year", "month", "day", "hour"]


def raw_rows(dated: DataFrame) -> DataFrame:
    """The table's rows from Kafka records that have an event time."""
    time = F.col("record.event_time")
    clock = utc_clock(time)
    return dated.select(
        time.alias("event_time"),
        F.col("value").cast("string").alias("value"),
        "partition",
        "offset",
        F.year(clock).alias("year"),
        F.month(clock).alias("month"),
        F.dayofmonth(clock).alias("day"),
        F.hour(clock).alias("hour"),
    )


def rows_between(table: DataFrame, start: datetime, end: datetime) -> DataFrame:
    """The rows with start <= event time < end, from those partitions alone that can hold them."""
    last = end - timedelta(microseconds=1)
    in_partitions = _hour_number().between(_hour_number_of(start), _hour_number_of(last))
    in_range = (F.col("event_time") >= F.lit(start)) & (F.col("event_time") < F.lit(end))
    return table.filter(in_partitions).filter(in_range)


def _hour_number() -> Column:
    """A number that grows from partition to partition; of partition columns alone, so that Delta prunes by it."""
    return F.expr("year * 1000000 + month * 10000 + day * 100 + hour")


def _hour_number_of(time: datetime) -> int:
    return int(time.astimezone(UTC).strftime("%Y%m%d%H"))
