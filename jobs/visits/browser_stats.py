"""The business logic of both browser statistics, stateless and stateful: visits per browser and window."""

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from jobs.command.text import spark_interval
from jobs.records.records import RecordFormat

BROWSER_VISITS = RecordFormat(
    fields=StructType(
        [
            StructField("userId", LongType()),
            StructField("page", StringType()),
            StructField("eventTime", TimestampType()),
            StructField("browser", StringType()),
        ]
    ),
    time_field="eventTime",
    required=("browser", "eventTime"),
)


def browser_stats(visits: DataFrame, window: timedelta) -> DataFrame:
    """Each browser's visits in each window, with the time of the last one, ready for Kafka."""
    stats = visits.groupBy("browser", F.window("eventTime", spark_interval(window))).agg(
        F.count("*").alias("count"), F.max("eventTime").alias("last_event_time_in_window")
    )
    columns = ("browser", "window", "count", "last_event_time_in_window")
    return stats.select(F.col("browser").alias("key"), F.to_json(F.struct(*columns)).alias("value"))
