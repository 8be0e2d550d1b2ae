"""A started job: the query that does its work, and the one that sets bad records aside."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.streaming import StreamingQuery

from jobs.progress import BatchProgress, batch_progress


class WaitedTooLong(Exception):
    """A bounded wait has ended without what it waited for."""


@dataclass(frozen=True)
class Failure:
    """Why a query ended: Spark's name for the error, its cause, and the batch it was in."""

    query: str
    error_class: str
    cause: str
    batch: int | None
    trace: str

    def __str__(self) -> str:
        where = "before its first batch" if self.batch is None else f"in batch {self.batch}"
        return f"{self.query} failed {where}: [{self.error_class}] {self.cause}"


class RunningJob:
    """The queries of one job, stopped and watched as one."""

    def __init__(self, name: str, queries: Sequence[StreamingQuery]) -> None:
        self.name = name
        self.queries = list(queries)

    @property
    def main(self) -> StreamingQuery:
        """The query that does the job's work."""
        return self.queries[0]

    @property
    def is_active(self) -> bool:
        """Whether every query still runs."""
        return all(query.isActive for query in self.queries)

    def batches(self) -> list[BatchProgress]:
        """What the main query reported of its batches so far."""
        return [batch_progress(report) for report in self.main.recentProgress]

    def failure(self) -> Failure | None:
        """The first failure among the queries, if one failed."""
        for query in self.queries:
            error = None if query.isActive else query.exception()
            if error is not None:
                return describe_failure(query, error)
        return None

    def process_all_available(self, seconds: float) -> None:
        """Wait until everything sent before this call is processed, at most `seconds`; a dead query ends the wait."""
        deadline = time.monotonic() + seconds
        for query in self.queries:
            waiter = threading.Thread(target=_process_all_available, args=[query], daemon=True)
            waiter.start()
            waiter.join(max(0.0, deadline - time.monotonic()))
            if waiter.is_alive():
                raise WaitedTooLong(f"{query.name} has not processed all that is available after {seconds:g} s")

    def stop(self) -> None:
        """Stop every query after the batch in hand."""
        for query in self.queries:
            query.stop()

    def await_end(self, seconds: float) -> bool:
        """Wait until a query has ended, at most `seconds`; tells whether all have, or one has failed."""
        deadline = time.monotonic() + seconds
        for query in self.queries:
            if not query.awaitTermination(max(0.001, deadline - time.monotonic())):
                return self.failure() is not None
        return True


def _process_all_available(query: StreamingQuery) -> None:
    try:
        query.processAllAvailable()
    except Exception:
        # The query's own exception() keeps what went wrong, and failure() tells it.
        return


def describe_failure(query: StreamingQuery, error: Exception) -> Failure:
    """Find the innermost error that Spark names."""
    trace = str(error)
    progress = query.lastProgress
    return Failure(
        query=query.name,
        error_class=_error_class(error),
        cause=_cause(trace),
        batch=_failed_batch(query, progress.batchId if progress else None),
        trace=trace,
    )


def _failed_batch(query: StreamingQuery, last_finished: int | None) -> int | None:
    batch = _committed_batch(query)
    if batch is not None:
        return batch
    return None if last_finished is None else last_finished + 1


def _committed_batch(query: StreamingQuery) -> int | None:
    return None


def _error_class(error: Exception) -> str:
    return type(error).__name__


def _cause(trace: str) -> str:
    return trace
