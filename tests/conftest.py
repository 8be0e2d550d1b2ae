"""The run's Kafka and Spark, under the short names that these tests use."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.kafka.kafka import Kafka
from headgate.plugin.collection import load


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> None:
    """These tests need the fixtures even where no feature is collected."""
    load(parent.config)


@pytest.fixture(scope="session")
def kafka(headgate_kafka: Kafka) -> Kafka:
    """The run's Kafka."""
    return headgate_kafka


@pytest.fixture(scope="session")
def spark(headgate_spark: SparkSession) -> SparkSession:
    """The run's Spark."""
    return headgate_spark
