"""Starts the queries of a streaming job: the one that does the work and, unless told otherwise, the dead letters'."""

import argparse
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter

from headgate.spark.queries import RunningJob
from jobs.command.checkpoint_owner import claim
from jobs.command.topics import prepare_topics
from jobs.records.dead_letters import start_setting_aside
from jobs.records.kafka_io import kafka_settings, read_stream
from jobs.records.records import RecordFormat, refuse_bad_records, with_rejection
from jobs.records.triggers import with_trigger

Transformation = Callable[[DataFrame], DataFrame]
ShowBatch = Callable[[DataFrame, int], None]
Sink = Callable[[DataStreamWriter], DataStreamWriter]


def start_stream(
    spark: SparkSession,
    options: argparse.Namespace,
    form: RecordFormat,
    transform: Transformation,
    sink: Sink,
    output_mode: str,
) -> RunningJob:
    """Read the topic, tell good records from bad, `transform` the good ones and write them to the sink.

    `transform` gets the good records as they came from Kafka, with the parsed value in `record`.
    """
    prepare_topics(spark, options)
    claim(options.checkpoint, options.job)
    judged = with_rejection(read_stream(spark, options), form, options.max_value_bytes)
    sets_aside = options.on_bad_record == "dead-letter"
    good = judged.filter("rejection IS NULL") if sets_aside else refuse_bad_records(judged)
    writer = (
        transform(good)
        .writeStream.queryName(options.job)
        .outputMode(output_mode)
        .option("checkpointLocation", options.checkpoint)
    )
    queries = [with_trigger(sink(writer), options).start()]
    if sets_aside:
        queries.append(start_setting_aside(judged, options, options.job))
    return RunningJob(options.job, queries)


def to_console(show: ShowBatch) -> Sink:
    """Hand every batch, the empty ones too, to `show`."""
    return lambda writer: writer.foreachBatch(show)


def to_kafka(options: argparse.Namespace) -> Sink:
    """Write key, value and headers to the output topic."""
    return lambda writer: (
        writer.format("kafka").options(**kafka_settings(options)).option("topic", options.output_topic)
    )


def to_delta(options: argparse.Namespace, partition_by: list[str]) -> Sink:
    """Append to the Delta table."""
    return lambda writer: writer.format("delta").partitionBy(*partition_by).option("path", options.table)
