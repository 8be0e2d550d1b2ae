"""One Spark, one Kafka, and checkpoints that real queries made once and tests copy."""

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headgate.kafka.embedded import EmbeddedKafka
from headgate.kafka.kafka import Kafka
from headgate.spark.session import spark_session

from .queries import EVERYWHERE, Checkpoints

FAST = {
    **EVERYWHERE,
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    found = SparkSession.getActiveSession()
    session = spark_session("rewind-tests", "local[2]", FAST)
    jvm: Any = session._jvm
    # State maintenance of earlier tests ends here; it starts again at the pace that these tests need.
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
    yield session
    if found is None:
        session.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Kafka]:
    embedded = EmbeddedKafka()
    yield embedded
    embedded.stop()


@pytest.fixture(scope="session")
def checkpoints(spark: SparkSession, broker: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Checkpoints:
    return Checkpoints(spark, broker.address, tmp_path_factory.mktemp("made"))
