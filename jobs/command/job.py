"""What a job is: a name, its options, and one entry that the command line and the features share."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

# A tool runs where there is no Spark.
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jobs.running import RunningJob

ShowBatch = Callable[["DataFrame", int], None]


class Refusal(Exception):
    """What was asked for makes no sense; one sentence says why and what to do."""


class NoAnswer(Refusal):
    """Kafka is not there, or does not let us in: the same words may work later."""


def accept(options: argparse.Namespace) -> None:
    """Find nothing wrong."""


@dataclass(frozen=True)
class StreamingJob:
    """A job that runs until it is stopped."""

    name: str
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    start: Callable[["SparkSession", argparse.Namespace, ShowBatch], "RunningJob"]
    show: ShowBatch | None = None
    check: Callable[[argparse.Namespace], None] = accept
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchJob:
    """A job that runs once, to its end."""

    name: str
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[["SparkSession", argparse.Namespace], None]
    check: Callable[[argparse.Namespace], None] = accept
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A command that needs no Spark."""

    name: str
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    check: Callable[[argparse.Namespace], None] = accept


AnyJob = StreamingJob | BatchJob | Tool
