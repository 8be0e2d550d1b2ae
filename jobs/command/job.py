"""What a job is: a name, its options, and what it does."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headgate.errors import Refusal

# A tool runs where there is no Spark.
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headgate.spark.queries import RunningJob

__all__ = ["AnyJob", "BatchJob", "NoAnswer", "Refusal", "StreamingJob", "Tool"]


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
    start: Callable[["SparkSession", argparse.Namespace], "RunningJob"]
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
