"""Jars: prints what spark-submit must be given."""

import argparse

from headgate.command.tool import Tool


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "--packages", action="store_true", help="print coordinates for spark-submit --packages instead of files"
    )


def run(options: argparse.Namespace) -> int:
    """Print the jars on one line, fetched first where they are not here yet."""
    from headgate.spark.jars import fetched_jars, packages

    print(packages() if options.packages else ",".join(map(str, fetched_jars().spark)))
    return 0


TOOL = Tool(
    name="jars",
    summary="Prints the jars of Kafka's source and Delta Lake, ready for spark-submit --jars.",
    example="headgate jars",
    add_options=add_options,
    run=run,
)
