"""Looks for the topics a job needs, with the Kafka client that Spark itself uses."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from jobs.command.job import NoAnswer, Refusal
from jobs.records.kafka_io import client_settings


def prepare_topics(spark: SparkSession, options: argparse.Namespace) -> None:
    """Refuse a topic that is not there; make the dead-letter topic where it is missing."""
    settings = client_settings(options)
    with _admin(spark, settings) as admin:
        try:
            there = set(admin.listTopics().names().get())
            _refuse_missing(options, there)
            sets_aside = getattr(options, "on_bad_record", None) == "dead-letter"
            if sets_aside and options.dead_letter_topic not in there:
                _create(spark, admin, options.dead_letter_topic)
        except Py4JJavaError as error:
            raise _no_answer(options.kafka, settings, error) from None


@contextmanager
def _admin(spark: SparkSession, settings: dict[str, str]) -> Iterator[Any]:
    properties = spark._jvm.java.util.Properties()
    for key, value in settings.items():
        properties.setProperty(key, value)
    try:
        admin = spark._jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    except Py4JJavaError as error:
        raise Refusal(f"Kafka's client does not take these settings: {_deepest(error).getMessage()}") from None
    try:
        yield admin
    finally:
        admin.close(spark._jvm.java.time.Duration.ofSeconds(1))


def _no_answer(address: str, settings: dict[str, str], error: Py4JJavaError) -> NoAnswer:
    reason = _deepest(error)
    if reason.getClass().getSimpleName() in ("TimeoutException", "DisconnectException"):
        waited = int(settings.get("default.api.timeout.ms", "60000")) / 1000
        return NoAnswer(f"No Kafka answers at {address} (waited {waited:g} s): start it, or correct --kafka.")
    return NoAnswer(f"Kafka at {address} refuses: {reason.getMessage()}")


def _deepest(error: Py4JJavaError) -> Any:
    reason = error.java_exception
    while reason.getCause() is not None:
        reason = reason.getCause()
    return reason


def _refuse_missing(options: argparse.Namespace, there: set[str]) -> None:
    for option in ("topic", "output_topic"):
        name = getattr(options, option, None)
        if name is not None and name not in there:
            shown = ", ".join(sorted(each for each in there if not each.startswith("__"))[:20]) or "none"
            raise Refusal(
                f"Kafka at {options.kafka} has no topic {name}: create it, or correct --{option.replace('_', '-')} "
                f"(there are: {shown})."
            )


def _create(spark: SparkSession, admin: Any, name: str) -> None:
    # Twice Kafka's default: a record that just fits its own topic must fit here with its headers.
    limits = spark._jvm.java.util.HashMap()
    limits.put("max.message.bytes", str(2 * 1024 * 1024 + 65536))
    none = spark._jvm.java.util.Optional.empty()
    topic = spark._jvm.org.apache.kafka.clients.admin.NewTopic(name, none, none).configs(limits)
    try:
        admin.createTopics(spark._jvm.java.util.Collections.singleton(topic)).all().get()
    except Py4JJavaError as error:
        if "TopicExistsException" not in str(error.java_exception):
            raise
