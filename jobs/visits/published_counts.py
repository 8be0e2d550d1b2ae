"""How window counts are published to Kafka, by the stream and by a reprocessing run alike."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.command.utc import utc_clock
from jobs.records.kafka_io import headers


def counts_for_kafka(counts: DataFrame, kind: str, **about_the_run: str) -> DataFrame:
    """One record a window: a consumer that keeps the latest record of each key has the right count.

    Headers tell the stream's counts from reprocessed ones.
    """
    return counts.select(
        window_key(F.col("window")).alias("key"),
        F.to_json(F.struct("window", "count")).alias("value"),
        headers(kind=kind, **about_the_run).alias("headers"),
    )


def window_key(window: Column) -> Column:
    """The window's start and end in UTC, so that a change of zone or of clocks cannot make two keys of one window."""
    return F.concat_ws(
        "/", *[F.date_format(utc_clock(window.getField(edge)), "yyyy-MM-dd'T'HH:mm:ss'Z'") for edge in ("start", "end")]
    )
