"""One Kafka and one Spark a run, started side by side; one stage a scenario."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from headgate.errors import SandboxError
from headgate.kafka.choose import Choice, choose_kafka
from headgate.kafka.kafka import Kafka, own_kafka
from headgate.plugin.collection import FeatureFile
from headgate.project import find_project
from headgate.seam.install import installed
from headgate.spark.session import spark_session
from headgate.stage.stage import Stage
from headgate.tell.reporting import STAGE

# Spark 4.1 moved it.
CHECKPOINTING = "" if pyspark.__version__.startswith("4.0.") else ".checkpointing"
SHORT_RUN = {
    # A short run is over before the full compiler pays for itself. The quick one alone would have a fifth of the room
    # for code, which hundreds of scenarios fill.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC",
    # Small tables and states: more partitions would be empty tasks.
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Nobody will need these checkpoints after a power cut: no fsync.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"org.apache.spark.sql.execution.streaming{CHECKPOINTING}.FileSystemBasedCheckpointFileManager"
    ),
    # An account of a scenario has all its batches.
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
}
CHOSEN: pytest.StashKey[Choice] = pytest.StashKey()
STARTED: pytest.StashKey[Future[Kafka]] = pytest.StashKey()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start Kafka beside Spark as soon as it is known that a scenario is to be played."""
    if not _is_worker(session.config) and any(_plays_scenario(item) for item in session.items):
        kafka_of_run(session.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the Kafka that this run has started."""
    started = config.stash.get(STARTED, None)
    if started is not None and started.exception() is None:
        started.result().stop()


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """Say which Kafka this run plays against, if it does."""
    if config.option.collectonly or not any(map(_plays_scenario, items)):
        return []
    return [
        f"headgate: {_chosen(config).shown}, Spark at {config.option.master}, patience {config.option.patience:g} s"
    ]


def _chosen(config: pytest.Config) -> Choice:
    if CHOSEN not in config.stash:
        try:
            config.stash[CHOSEN] = choose_kafka(config.option.kafka, config.option.kafka_image)
        except SandboxError as error:
            pytest.exit(str(error), returncode=3)
    return config.stash[CHOSEN]


def kafka_of_run(config: pytest.Config) -> Future[Kafka]:
    """The run's one Kafka, being started."""
    if STARTED not in config.stash:
        pool = ThreadPoolExecutor(1)
        config.stash[STARTED] = pool.submit(_chosen(config).start)
        pool.shutdown(wait=False)
    return config.stash[STARTED]


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _plays_scenario(item: pytest.Item) -> bool:
    return isinstance(item.parent, FeatureFile)


@pytest.fixture(scope="session")
def headgate_kafka(request: pytest.FixtureRequest) -> Kafka:
    """The run's Kafka."""
    config = request.config
    if _is_worker(config) and "kafka" in config.workerinput:  # type: ignore[attr-defined]
        return own_kafka(config.workerinput["kafka"])  # type: ignore[attr-defined]
    try:
        return kafka_of_run(config).result()
    except SandboxError as error:
        pytest.exit(str(error), returncode=3)


@pytest.fixture(scope="session")
def headgate_spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The run's Spark."""
    try:
        session = spark_session("headgate", request.config.option.master, SHORT_RUN)
    except SandboxError as error:
        pytest.exit(str(error), returncode=3)
    with installed():
        yield session
    session.stop()


@pytest.fixture
def headgate_stage(
    request: pytest.FixtureRequest, headgate_spark: SparkSession, headgate_kafka: Kafka, tmp_path: Path
) -> Iterator[Stage]:
    """This scenario's own topics, jobs, tables and settings."""
    project = find_project(request.node.path.parent)
    made = request.node.stash[STAGE] = Stage(
        headgate_spark, headgate_kafka.address, tmp_path, request.config.option.patience, project
    )
    yield made
    made.close()
