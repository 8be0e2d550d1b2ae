"""Programs written on the spot, played in a scenario of their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from pyspark.sql import SparkSession

from headgate.kafka.kafka import Kafka
from headgate.stage.stage import Stage
from headgate.stage.staged_program import StagedQuery
from headgate.stage.topic import Event

PATIENCE = 60
HEAD = """
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
"""
LINES = """
lines = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "broker.of.production:9092")
    .option("subscribe", "lines")
    .option("startingOffsets", "earliest")
    .load()
    .selectExpr("CAST(value AS STRING) AS line")
)
"""


class Scene:
    """A project with programs, and a stage to play them on."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._declared: dict[str, dict[str, object]] = {}

    def write(self, path: str, text: str) -> Path:
        """A file of the project."""
        file = self.stage.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def declare(self, name: str, **declared: object) -> None:
        """An entry of [tool.headgate.jobs]."""
        self._declared[name] = declared
        entries = [f"[tool.headgate.jobs.{json.dumps(each)}]\n{_toml(told)}" for each, told in self._declared.items()]
        self.write("pyproject.toml", "\n".join(entries))

    def program(self, name: str, text: str, **declared: object) -> str:
        """A script of the project, declared under its name."""
        path = f"{name.replace(' ', '_')}.py"
        self.write(path, text)
        self.declare(name, run=path, **declared)
        return name

    def runs(self, text: str, *words: str, **declared: object) -> str:
        """Play a program to its end; gives what it printed."""
        self.stage.run_job(self.program("short program", text, **declared), list(words))
        return self.stage.printed

    def starts(self, text: str, *words: str, **declared: object) -> StagedQuery:
        """Start a program that runs until it is stopped."""
        name = self.program("stream", text, **declared)
        self.stage.start_job(name, list(words))
        return self.stage.query(name)

    def send(self, topic: str, *values: str, **more: object) -> None:
        """Send values, and let every program process them."""
        self.stage.make_missing_topic(topic)
        self.stage.send(topic, [Event(value.encode(), **more) for value in values])

    def received(self, topic: str) -> list[str]:
        """What has come to a topic since it was looked at last."""
        self.stage.settle()
        return [message.value().decode() for message in self.stage.topic(topic).read_on(PATIENCE)]


def _toml(told: dict[str, object]) -> str:
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in told.items())


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {json.dumps(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def rows(query: StagedQuery, number: int) -> list[tuple]:
    """The rows of a batch, sorted."""
    batch = query.batch(number)
    assert batch is not None, [each.number for each in query.seen()]
    return sorted(tuple(row.values()) for row in batch.rows.to_pylist())


@pytest.fixture
def scene(spark: SparkSession, kafka: Kafka, tmp_path: Path) -> Iterator[Scene]:
    """A stage and a project of this test's own."""
    project, folder = tmp_path / "project", tmp_path / "scenario"
    project.mkdir()
    folder.mkdir()
    stage = Stage(spark, kafka.address, folder, PATIENCE, project)
    yield Scene(stage)
    stage.close()
