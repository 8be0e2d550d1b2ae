"""The business logic of both visits counters, streaming and batch: how many visits each window has."""

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.command.text import spark_interval


def count_by_window(visits: DataFrame, window: timedelta) -> DataFrame:
    """One row per tumbling window of `event_time`: window, count."""
    return visits.groupBy(F.window("event_time", spark_interval(window))).count()
