"""Looks for the topics a job needs, with the Kafka client that Spark itself uses."""

import argparse
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from jobs.job import Refusal

ANSWER_MS = 15_000


def prepare_topics(spark: SparkSession, options: argparse.Namespace) -> None:
    """Refuse a topic that is not there; make the dead-letter topic where it is missing."""
    properties = spark._jvm.java.util.Properties()
    for key, value in [("bootstrap.servers", options.kafka), *options.kafka_option]:
        properties.setProperty(key, value)
    for key in ("default.api.timeout.ms", "request.timeout.ms"):
        properties.setProperty(key, str(ANSWER_MS))
    admin = spark._jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    try:
        there = set(admin.listTopics().names().get())
        _refuse_missing(options, there)
        if options.on_bad_record == "dead-letter" and options.dead_letter_topic not in there:
            _create(spark, admin, options.dead_letter_topic)
    except Py4JJavaError as error:
        raise Refusal(
            f"No Kafka answers at {options.kafka} (waited {ANSWER_MS // 1000} s): start it, or correct --kafka."
            if "TimeoutException" in str(error.java_exception)
            else f"Kafka at {options.kafka} refuses: {error.java_exception.getMessage()}"
        ) from None
    finally:
        admin.close()


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
