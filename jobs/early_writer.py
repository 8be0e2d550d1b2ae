"""Early writer: a visit's count goes out after every event, and once more, marked finished, when its time is over."""

import argparse
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BooleanType, LongType, StructField, StructType

from headgate.spark.queries import RunningJob
from jobs.command.job import StreamingJob
from jobs.command.main import run_command
from jobs.command.options import add_streaming, add_watermark
from jobs.command.text import duration, plain, spark_interval
from jobs.records.console import print_batch
from jobs.records.state import ROCKSDB
from jobs.records.stream import start_stream, to_console
from jobs.visits.formats import NUMBERED_VISITS

COUNTED_VISIT = StructType(
    [
        StructField("visit_id", LongType()),
        StructField("visited_pages", LongType()),
        StructField("is_finished", BooleanType()),
    ]
)
VISIT_STATE = StructType([StructField("visited_pages", LongType()), StructField("expires_ms", LongType())])
DEFAULT_TIMEOUT = timedelta(minutes=15)


def count_visits(visits: DataFrame, watermark: timedelta, timeout: timedelta) -> DataFrame:
    """The running count of every visit that has an event in the batch, and the last one of every visit that is over."""
    return (
        visits.select("visit_id", "event_time")
        .withWatermark("event_time", spark_interval(watermark))
        .groupBy("visit_id")
        .transformWithState(VisitCounter(timeout), COUNTED_VISIT, outputMode="Update", timeMode="EventTime")
    )


class VisitCounter(StatefulProcessor):  # type: ignore[misc]
    """Counts one visit's events until the watermark has moved on by the timeout without a new one."""

    def __init__(self, timeout: timedelta) -> None:
        self._timeout_ms = int(timeout.total_seconds() * 1000)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called by Spark once per partition and batch."""
        self._handle = handle
        self._state = handle.getValueState("visit", VISIT_STATE)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Add the new events to the count and put the end of the visit off."""
        before = self._state.get()
        times = [row.event_time for row in rows]
        pages = len(times) + (before[0] if before else 0)
        watermark = timerValues.getCurrentWatermarkInMs()
        # Before the first watermark there is nothing but the events themselves to count the timeout from.
        base = watermark if watermark > 0 else int(max(times).timestamp() * 1000)
        expires = base + self._timeout_ms
        if before is None or before[1] != expires:
            if before is not None:
                self._handle.deleteTimer(before[1])
            self._handle.registerTimer(expires)
        self._state.update((pages, expires))
        yield Row(visit_id=key[0], visited_pages=pages, is_finished=False)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        """Send the last count and forget the visit, so that one that comes back starts anew."""
        pages = self._state.get()[0]
        self._state.clear()
        yield Row(visit_id=key[0], visited_pages=pages, is_finished=True)

    def close(self) -> None:
        """Called by Spark at the end; nothing is held."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this job."""
    add_watermark(parser, timedelta(minutes=15))
    parser.add_argument(
        "--visit-timeout",
        metavar="'N minutes'",
        type=duration,
        default=DEFAULT_TIMEOUT,
        help=f"a visit is over when the watermark has moved on so far without a new event ({plain(DEFAULT_TIMEOUT)})",
    )
    add_streaming(parser)


def start(spark: SparkSession, options: argparse.Namespace) -> RunningJob:
    """Start the job."""
    return start_stream(
        spark,
        options,
        NUMBERED_VISITS,
        lambda good: count_visits(good.select("record.*"), options.watermark, options.visit_timeout),
        to_console(print_batch),
        "update",
    )


JOB = StreamingJob(
    name="early-writer",
    summary="Counts the pages of each visit and writes the count after every event, long before the visit is over.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    headgate run early-writer --available-now --send -""",
    add_options=add_options,
    start=start,
    settings=ROCKSDB,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
