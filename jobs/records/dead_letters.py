"""Sets bad records aside in the dead-letter topic, whole, with their place and the reason."""

import argparse

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from jobs.records.kafka_io import headers, kafka_settings
from jobs.records.triggers import with_trigger

NO_HEADERS = "CAST(array() AS array<struct<key: string, value: binary>>)"


def start_setting_aside(judged: DataFrame, options: argparse.Namespace, name: str) -> StreamingQuery:
    """A second query beside the job's own: a stateful query has one sink, and its batches stay what they are."""
    writer = (
        dead_letters(judged)
        .writeStream.queryName(f"{name}-rejected")
        .format("kafka")
        .options(**kafka_settings(options))
        .option("kafka.max.request.size", str(8 * 1024 * 1024))
        .option("topic", options.dead_letter_topic)
        .option("checkpointLocation", f"{options.checkpoint.rstrip('/')}-rejected")
    )
    return with_trigger(writer, options).start()


def dead_letters(judged: DataFrame) -> DataFrame:
    """The bad records as they came, with headers that tell where from and why."""
    return judged.filter("rejection IS NOT NULL").select("key", "value", _headers().alias("headers"))


def _headers() -> Column:
    place = headers(
        topic=F.col("topic"), partition=F.col("partition"), offset=F.col("offset"), reason=F.col("rejection")
    )
    return F.concat(F.coalesce(F.col("headers"), F.expr(NO_HEADERS)), place)
