"""A job on stage: how it was started, every batch it has shown, and what was said of it."""

import argparse
import io
from contextlib import redirect_stdout
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from jobs.job import StreamingJob
from jobs.progress import BatchProgress
from jobs.running import Failure, RunningJob


@dataclass
class SeenBatch:
    """A batch as the job showed it."""

    number: int
    rows: pa.Table
    mentioned: bool = False


class PrinterBroke(Exception):
    """Stands for whatever can go wrong in the middle of a batch."""


@dataclass
class StagedJob:
    """One job of a scenario, over all its starts."""

    job: StreamingJob
    options: argparse.Namespace
    session: SparkSession
    running: RunningJob | None = None
    seen: list[SeenBatch] = field(default_factory=list)
    breaks_in_batch: int | None = None
    drops_mentioned: int = 0
    failure_mentioned: bool = False
    _earlier: list[BatchProgress] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The job's name as a sentence says it."""
        return self.job.name.replace("-", " ")

    def start(self) -> None:
        """Start the job, or start it again from its checkpoint."""
        self.failure_mentioned = False
        self.running = self.job.start(self.session, self.options, self._record)

    def stop(self) -> None:
        """Stop the job, keeping what it has reported."""
        if self.running is not None:
            self._earlier = self.progress()
            self.running.stop()
            self.running = None

    def progress(self) -> list[BatchProgress]:
        """What the job reported of its batches, over all its starts."""
        now = self.running.batches() if self.running is not None else []
        return self._earlier + now

    def failure(self) -> Failure | None:
        """Why the job has failed, if it has."""
        return self.running.failure() if self.running is not None else None

    def batch(self, number: int) -> SeenBatch | None:
        """The latest showing of a batch."""
        return next((batch for batch in reversed(self.seen) if batch.number == number), None)

    def rows_dropped(self) -> int:
        """How many rows the watermark has dropped so far."""
        return sum(each.rows_dropped for each in self.progress())

    def printed(self, batch: SeenBatch) -> str:
        """What a person sees of the batch."""
        out = io.StringIO()
        if self.job.show is not None:
            with redirect_stdout(out):
                self.job.show(self.session.createDataFrame(batch.rows), batch.number)
        return out.getvalue()

    def _record(self, batch: DataFrame, number: int) -> None:
        rows = batch.toArrow()
        if number == self.breaks_in_batch:
            self.breaks_in_batch = None
            raise PrinterBroke(f"the printer broke in the middle of batch {number}")
        self.seen.append(SeenBatch(number, rows))
