"""A query of a program: every batch that passes its sink is kept, and one can be made to fail."""

import io
import shutil
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from headgate.seam.current import BATCH_OUTPUT, current

RECORDED = ("console", "memory", "noop", "foreach", "foreachbatch")
NO_ARROW_TYPE = "UNSUPPORTED_DATA_TYPE"
RULE = "-" * 43
BROKE_IN = "the printer broke in the middle of batch"
Sink = Callable[[DataFrame, int], Any]


@dataclass(frozen=True)
class Break:
    """A batch that is to fail: of the query with this name or this place in the order."""

    which: str | int
    number: int
    after_sink: bool

    def apply(self, query: "LedQuery") -> None:
        """Let it happen in a query that is about to start, or to a recorded one that runs."""
        if self.after_sink:
            query.breaks_after = self.number
        else:
            query.breaks_in = self.number


class SinkBroke(Exception):
    """Stands for whatever can go wrong around a sink."""


@dataclass
class SeenBatch:
    """A batch as it reached the sink."""

    number: int
    rows: pa.Table
    printed: str = ""
    mentioned: bool = False
    handed_on: bool = False
    """Whether the program wrote it, or what it made of it, to a sink where it can be seen."""


@dataclass
class LedQuery:
    """One query of one start of a program."""

    order: int
    name: str | None
    sink: str
    checkpoint: str
    query: StreamingQuery = None
    seen: list[SeenBatch] = field(default_factory=list)
    breaks_in: int | None = None
    breaks_after: int | None = None

    def recorder(self, sink: Sink) -> Sink:
        """Keeps each batch, then hands it to the sink, in which the seam holds."""
        context = copy_context()
        one_at_a_time = threading.Lock()

        def record(frame: DataFrame, number: int) -> None:
            # A context can be entered by one thread at a time.
            with one_at_a_time:
                context.run(self._record, sink, frame, number)

        return record

    def _record(self, sink: Sink, frame: DataFrame, number: int) -> None:
        # Kept once: what the program does with it must not make Spark process the batch again.
        frame.persist()
        program = current()
        writes = program.writes if program else 0
        printed = io.StringIO()
        token = BATCH_OUTPUT.set(printed)
        try:
            rows = arrow_rows(frame)
            if self.breaks_in == number:
                self.breaks_in = None
                raise SinkBroke(f"{BROKE_IN} {number}")
            batch = SeenBatch(number, rows)
            sink(frame, number)
            batch.printed = printed.getvalue()
            batch.handed_on = program is not None and program.writes > writes
            self.seen.append(batch)
            if self.breaks_after == number:
                self.breaks_after = None
                raise SinkBroke(f"the printer broke after batch {number}")
        finally:
            BATCH_OUTPUT.reset(token)
            frame.unpersist()

    def memory_view(self, name: str, mode: str, stream: DataFrame) -> Sink:
        """A sink whose rows can be asked for by SQL, as those of Spark's memory sink."""
        # A batch has a session of its own; the program asks in that of the stream.
        session, schema = stream.sparkSession, stream.schema
        kept: list[pa.Table] = []
        session.createDataFrame([], schema).createOrReplaceTempView(name)

        def keep(frame: DataFrame, number: int) -> None:
            if mode == "complete":
                kept.clear()
            kept.append(frame.toArrow())
            session.createDataFrame(pa.concat_tables(kept), schema).createOrReplaceTempView(name)

        return keep

    @property
    def is_recorded(self) -> bool:
        """Whether its batches are seen on their way."""
        return self.sink in RECORDED

    def obstruct(self, number: int) -> None:
        """Keep Spark from noting that the batch is done: what a query that runs stumbles over after its sink."""
        self._obstacle(number).mkdir(parents=True)

    def led_frame(self, frame: DataFrame) -> DataFrame:
        """What a query that is about to start writes to a sink of Spark's own, made to fail where it was said so."""
        if self.breaks_in is not None:
            frame = breaking_in(frame, self.breaks_in)
        if self.breaks_after is not None:
            # Not before the batch: a query that starts would take the obstacle for its last batch.
            frame = _obstructing(frame, self.breaks_after, self._obstacle(self.breaks_after))
        return frame

    def clear_way(self) -> None:
        """Take away what a batch was made to stumble over."""
        commits = Path(self.checkpoint) / "commits"
        for entry in commits.iterdir() if commits.is_dir() else ():
            if entry.is_dir():
                shutil.rmtree(entry)

    def _obstacle(self, number: int) -> Path:
        return Path(self.checkpoint) / "commits" / str(number)


def arrow_rows(frame: DataFrame) -> pa.Table:
    """The rows; what Arrow has no type for, such as an interval of months and days, as text."""
    try:
        return frame.toArrow()
    except PySparkException as error:
        if not str(error.getCondition()).startswith(NO_ARROW_TYPE):
            raise
    # By place: two columns may have one name.
    numbered = frame.toDF(*[f"c{number}" for number in range(len(frame.columns))])
    columns = [F.col(name) if _fits_arrow(numbered, name) else F.col(name).cast("string") for name in numbered.columns]
    return numbered.select(*columns).toArrow().rename_columns(frame.columns)


def _fits_arrow(frame: DataFrame, name: str) -> bool:
    try:
        frame.select(name).limit(0).toArrow()
    except PySparkException:
        return False
    return True


def breaking_in(frame: DataFrame, number: int) -> DataFrame:
    """The rows of a stream that fails in the middle of a batch, after the first rows of a partition."""

    def pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        is_the_one = TaskContext.get().getLocalProperty("streaming.sql.batchId") == str(number)
        for batch in batches:
            yield batch
            if is_the_one and batch.num_rows:
                raise RuntimeError(f"{BROKE_IN} {number}")

    return frame.mapInArrow(pass_on, frame.schema)


def _obstructing(frame: DataFrame, number: int, obstacle: Path) -> DataFrame:
    """The rows of a stream that puts something in its own way while a batch is on its way to the sink."""

    def pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if TaskContext.get().getLocalProperty("streaming.sql.batchId") == str(number):
            obstacle.mkdir(parents=True, exist_ok=True)
        yield from batches

    return frame.mapInArrow(pass_on, frame.schema)


def console_text(frame: DataFrame, number: int, rows: int, width: int) -> str:
    """The batch as Spark's console sink prints it."""
    # DataFrame.show() has no way to give the text back.
    table = frame._jdf.showString(rows, width, False)
    return f"{RULE}\nBatch: {number}\n{RULE}\n{table}"
