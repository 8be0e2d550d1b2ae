"""One Kafka and one Spark a run, started side by side; one stage a scenario."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.errors import SandboxError
from headgate.kafka.choose import Choice, choose_kafka
from headgate.kafka.kafka import Kafka, own_kafka
from headgate.project import find_project
from headgate.seam.install import installed
from headgate.spark.session import spark_session
from headgate.stage.stage import Stage

SHORT_RUN = {
    # A short run is over before the full compiler pays for itself.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Small tables and states: more partitions would be empty tasks.
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Nobody will need these checkpoints after a power cut: no fsync.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
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


def pytest_configure_node(node: object) -> None:
    """All workers of a parallel run share one Kafka."""
    kafka = kafka_of_run(node.config).result()  # type: ignore[attr-defined]
    node.workerinput["kafka"] = kafka.address  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the Kafka that this run has started."""
    started = config.stash.get(STARTED, None)
    if started is not None and started.exception() is None:
        started.result().stop()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which Kafka this run plays against."""
    if config.option.collectonly:
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
    return item.path.suffix == ".feature"


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Kafka:
    """The run's Kafka."""
    config = request.config
    if _is_worker(config):
        return own_kafka(config.workerinput["kafka"])  # type: ignore[attr-defined]
    try:
        return kafka_of_run(config).result()
    except SandboxError as error:
        pytest.exit(str(error), returncode=3)


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The run's Spark."""
    try:
        session = spark_session("headgate", request.config.option.master, SHORT_RUN)
    except SandboxError as error:
        pytest.exit(str(error), returncode=3)
    with installed():
        yield session
    session.stop()


@pytest.fixture
def stage(request: pytest.FixtureRequest, spark: SparkSession, kafka: Kafka, tmp_path: Path) -> Iterator[Stage]:
    """This scenario's own topics, jobs, tables and settings."""
    project = find_project(request.node.path.parent)
    made = Stage(spark, kafka.address, tmp_path, request.config.option.patience, project)
    yield made
    made.close()
