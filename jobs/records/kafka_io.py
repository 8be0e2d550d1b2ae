"""Reads Kafka topics as DataFrames and makes rows ready for Kafka's sink."""

import argparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

# Spark asks three times: a query rides out an outage of about a minute, and fails after it.
PATIENCE = {"request.timeout.ms": "15000", "default.api.timeout.ms": "20000"}


def kafka_settings(options: argparse.Namespace) -> dict[str, str]:
    """How to reach the broker, as Spark's Kafka source and sink take it."""
    return {f"kafka.{key}": value for key, value in client_settings(options).items()}


def client_settings(options: argparse.Namespace) -> dict[str, str]:
    """How to reach the broker, as Kafka's own client takes it; --kafka-option wins."""
    given = dict(options.kafka_option)
    patience = {} if PATIENCE.keys() & given.keys() else PATIENCE
    return {"bootstrap.servers": options.kafka, **patience, **given}


def read_stream(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The input topic from its beginning, or from where the checkpoint left off."""
    reader = (
        spark.readStream.format("kafka")
        .options(**kafka_settings(options))
        .option("subscribe", options.topic)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", str(options.fail_on_data_loss).lower())
        .option("includeHeaders", "true")
    )
    if options.max_offsets_per_trigger is not None:
        reader = reader.option("maxOffsetsPerTrigger", options.max_offsets_per_trigger)
    return reader.load()


def headers(**values: Column | str) -> Column:
    """Kafka headers from names and values."""
    return F.array(
        *[
            F.struct(
                F.lit(name).alias("key"),
                (F.lit(value) if isinstance(value, str) else value).cast("string").cast("binary").alias("value"),
            )
            for name, value in values.items()
        ]
    )
