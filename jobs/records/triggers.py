"""When a query looks for new data."""

import argparse

from pyspark.sql.streaming import DataStreamWriter

from jobs.command.text import spark_interval


def with_trigger(writer: DataStreamWriter, options: argparse.Namespace) -> DataStreamWriter:
    """As soon as there is data, every `--trigger`, or once for all that is there."""
    if options.available_now:
        return writer.trigger(availableNow=True)
    if options.trigger is not None:
        return writer.trigger(processingTime=spark_interval(options.trigger))
    return writer
