"""The run's Kafka and Spark, under the short names that these tests use."""

import pytest
from pyspark.sql import SparkSession

from headgate.kafka.kafka import Kafka


@pytest.fixture(scope="session")
def kafka(headgate_kafka: Kafka) -> Kafka:
    """The run's Kafka."""
    return headgate_kafka


@pytest.fixture(scope="session")
def spark(headgate_spark: SparkSession) -> SparkSession:
    """The run's Spark."""
    return headgate_spark
