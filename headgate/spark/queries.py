"""A started job: the query that does its work, and the one that sets bad records aside."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql.streaming import StreamingQuery

from headgate.spark.failures import innermost_cause
from headgate.spark.progress import BatchProgress, batch_progress

# An exception in a batch's output is told by failure(), once; py4j would log its whole trace besides.
logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)

GRACE_SECONDS = 60.0
OFFSETS_SECONDS = 2.0
IDLE_SECONDS = 0.5
POLL_SECONDS = 0.05
# A query without a pace has processed a small batch by then.
PROMPT_SECONDS = 2.0


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
        return [batch_progress(report) for report in self.main.recentProgress if _is_of_batch(report)]

    def batches_after(self, number: int) -> list[BatchProgress]:
        """The same of the batches after that one; cheap if there are none."""
        latest = self.main.lastProgress
        if latest is None or latest.batchId <= number:
            return []
        return [batch for batch in self.batches() if batch.batch > number]

    def failure(self) -> Failure | None:
        """The first failure among the queries, if one failed."""
        for query in self.queries:
            error = None if query.isActive else query.exception()
            if error is not None:
                return describe_failure(query, error)
        return None

    def process_all_available(
        self, seconds: float, is_done: Callable[[StreamingQuery], bool] = lambda _: False
    ) -> None:
        """Wait until everything sent before this call is processed, at most `seconds`; a dead query ends the wait.

        Spark says so at the next trigger; `is_done` may know of a query earlier.
        """
        deadline = time.monotonic() + seconds
        for query in self.queries:
            waiter = threading.Thread(target=_process_all_available, args=[query], daemon=True)
            waiter.start()
            waiter.join(min(PROMPT_SECONDS, seconds))
            while waiter.is_alive() and not is_done(query):
                if time.monotonic() > deadline:
                    raise WaitedTooLong(f"{query.name} has not processed all that is available after {seconds:g} s")
                waiter.join(POLL_SECONDS)

    def stop(self, grace: float = GRACE_SECONDS, hurry: threading.Event | None = None) -> None:
        """Stop every query after the batch in hand.

        A batch that is not done after `grace` seconds, or when `hurry` is set, is interrupted; it is redone at the
        next start.
        """
        for query in self.queries:
            _begin_no_batch(query)
        deadline = time.monotonic() + grace
        for query in self.queries:
            _await_batch(query, deadline, hurry or threading.Event())
            query.stop()

    def await_end(self, seconds: float) -> bool:
        """Wait until a query has ended, at most `seconds`; tells whether all have, or one has failed."""
        deadline = time.monotonic() + seconds
        for query in self.queries:
            ended = _ended_within(query, deadline - time.monotonic())
            if not ended or query.exception() is not None:
                return self.failure() is not None
        return True


def _process_all_available(query: StreamingQuery) -> None:
    try:
        query.processAllAvailable()
    except Exception:
        # The query's own exception() keeps what went wrong, and failure() tells it.
        return


def _ended_within(query: StreamingQuery, seconds: float) -> bool:
    try:
        return bool(query.awaitTermination(max(0.001, seconds)))
    except (PySparkException, Py4JError):  # raised where the query has failed
        return True


def _is_of_batch(report: Any) -> bool:
    """An idle query reports now and then too, under the number of the batch that is to come."""
    return "addBatch" in report.durationMs


def _begin_no_batch(query: StreamingQuery) -> None:
    """Tell the query to end after its batch: StreamingQuery.stop() alone interrupts it in the middle."""
    try:
        terminated = getattr(_java(f"{query._jsq.getClass().getPackageName()}.TERMINATED$"), "MODULE$")
        query._jsq.streamingQuery().state().set(terminated)
    except (Py4JError, TypeError):
        # A Spark without this inner switch: a batch may begin just before stop(), and is redone at the next start.
        return


def _java(name: str) -> Any:
    return getattr(SparkContext._jvm, name)


def _await_batch(query: StreamingQuery, deadline: float, hurry: threading.Event) -> None:
    """Wait until the query has ended, or is seen to have no batch in hand."""
    started = last_busy = time.monotonic()
    while (now := time.monotonic()) < deadline and not hurry.is_set():
        # isActive and awaitTermination already call a query ended that is only told to end.
        if not query._jsq.streamingQuery().queryExecutionThread().isAlive():
            return
        if _is_busy(query, now - started):
            last_busy = now
        # Between two triggers a query looks idle for a moment though it is about to begin a batch.
        elif now - last_busy > IDLE_SECONDS:
            return
        time.sleep(POLL_SECONDS)


def _is_busy(query: StreamingQuery, waited: float) -> bool:
    status = query.status
    # A query that still asks for offsets by now gets no answer from Kafka: it has no batch to lose.
    gets_no_answer = waited > OFFSETS_SECONDS and status["message"].startswith("Getting offsets")
    return bool(status["isTriggerActive"]) and not gets_no_answer


def describe_failure(query: StreamingQuery, error: Exception) -> Failure:
    """Find the innermost error that Spark names."""
    trace = _java_trace(query) or str(error)
    cause = innermost_cause(trace)
    return Failure(
        query=query.name, error_class=cause.name, cause=cause.message, batch=_batch_number(query), trace=trace
    )


def _java_trace(query: StreamingQuery) -> str:
    error = query._jsq.exception()
    # PySpark's own exception has no causes.
    return str(_java("org.apache.spark.util.Utils").exceptionString(error.get())) if error.isDefined() else ""


def _batch_number(query: StreamingQuery) -> int | None:
    try:
        return int(query._jsq.streamingQuery().getLatestExecutionContext().batchId())
    except (Py4JError, AttributeError, TypeError):  # it ended before it had one
        return None
