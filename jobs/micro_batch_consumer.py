"""Micro-batch consumer: prints visits, at most ten a batch, a batch every twenty seconds."""

import argparse
import sys
from datetime import timedelta

from pyspark.sql import DataFrame, Row, SparkSession

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_streaming
from jobs.records.stream import start_stream, to_console
from jobs.visits.formats import GENERATED_VISITS


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


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""
    return start_stream(spark, options, GENERATED_VISITS, visits_with_partition, to_console(print_visits), "append")


JOB = StreamingJob(
    name="micro-batch-consumer",
    summary="Prints the visits of the generator, a bounded number in each micro-batch.",
    example="""headgate run visits-generator --count 12 --seed 7 |
    headgate run micro-batch-consumer --available-now --send -""",
    add_options=add_options,
    start=start,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
