"""One Spark, one Kafka, and checkpoints that real queries made once and tests copy."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from jobs.session import spark_session
from sandbox.embedded import EmbeddedKafka
from sandbox.kafka import Kafka

from .queries import MAINTENANCE, Checkpoints

FAST = {
    **MAINTENANCE,
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = spark_session("rewind-tests", "local[2]", FAST)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Kafka]:
    embedded = EmbeddedKafka()
    yield embedded
    embedded.stop()


@pytest.fixture(scope="session")
def checkpoints(spark: SparkSession, broker: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Checkpoints:
    return Checkpoints(spark, broker.address, tmp_path_factory.mktemp("made"))
