"""Micro-batch consumer: prints visits, at most ten a batch, a batch every twenty seconds."""

import argparse
from datetime import timedelta

from pyspark.sql import DataFrame, Row, SparkSession

from jobs.job import ShowBatch, StreamingJob
from jobs.options import add_streaming
from jobs.running import RunningJob
from jobs.stream import start_stream, to_console
from jobs.visits import GENERATED_VISITS


def visits_with_partition(good: DataFrame) -> DataFrame:
    """Each visit with the Kafka partition that it came from."""
    return good.select("partition", "record.*")


def print_visits(batch: DataFrame, number: int) -> None:  # noqa: ARG001
    """The batch's visits, a line each."""
    print("\n".join(lines_of(batch.collect())), flush=True)


def lines_of(visits: list[Row]) -> list[str]:
    """What is printed of a batch, partition by partition."""
    lines = ["✍️ Printing visits"]
    for visit in sorted(visits, key=lambda visit: visit["partition"]):
        shown = Row(**{name: visit[name] for name in GENERATED_VISITS.fields.names})
        lines.append(f"Partition[{visit['partition']}] > Printing visit={shown}")
    return lines


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_streaming(parser, trigger=timedelta(seconds=20), max_offsets_per_trigger=10)


def start(spark: SparkSession, options: argparse.Namespace, show: ShowBatch) -> RunningJob:
    """Start the job."""
    return start_stream(spark, options, GENERATED_VISITS, visits_with_partition, to_console(show), "append")


JOB = StreamingJob(
    name="micro-batch-consumer",
    summary="Prints the visits of the generator, a bounded number in each micro-batch.",
    example="""sluice visits-generator --count 12 --seed 7 |
    sluice micro-batch-consumer --available-now --send -""",
    add_options=add_options,
    start=start,
    show=print_visits,
)
