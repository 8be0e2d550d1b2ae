"""A program on stage: its starts, every batch that was seen of it, and what was said of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.streaming import StreamingQuery

from headgate.errors import FeatureMistake
from headgate.project import Declared
from headgate.seam.program import Program
from headgate.seam.sinks import LedQuery, SeenBatch
from headgate.spark.failures import innermost_cause
from headgate.spark.progress import BatchProgress
from headgate.spark.queries import Failure, RunningJob

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}


@dataclass
class StagedProgram:
    """One program of a scenario, over all its starts."""

    declared: Declared
    make: Callable[[list[str]], Program]
    words: list[str] = field(default_factory=list)
    program: Program | None = None
    earlier_programs: list[Program] = field(default_factory=list)
    drops_mentioned: dict[str | None, int] = field(default_factory=dict)
    failures_mentioned: set[Program] = field(default_factory=set)
    empty_states: set[str | None] = field(default_factory=set)
    """Queries of which the feature has said that their state holds nothing."""
    end_mentioned: bool = False
    goes_on: bool = True
    """Whether it runs until it is stopped, as opposed to a program that ends by itself."""

    @property
    def name(self) -> str:
        """The program's name as a sentence says it."""
        return self.declared.name

    def start(self, seconds: float, *, to_its_end: bool = False) -> bool:
        """Start it, or start it again from its checkpoints; tells whether it got there in time."""
        self.end_mentioned, self.goes_on = False, not to_its_end
        if self.program is not None:
            self.stop()
        self.program = self.make(self.words)
        return self.program.start(seconds, to_its_end=to_its_end)

    def stop(self) -> None:
        """Stop it after the batch in hand, keeping what it has reported."""
        if self.program is None:
            return
        program = self.program
        program.failure = self.failure_of(program)
        self.program = None
        program.reports = self._reports(program)
        program.stop(lambda: self.queries_of(program).stop())
        program.reports = max(program.reports, self._reports(program), key=lambda kept: sum(map(len, kept.values())))
        for led in program.queries:
            led.clear_way()
        self.earlier_programs.append(program)

    @property
    def is_running(self) -> bool:
        """Whether it has queries and all of them run."""
        program = self.program
        return program is not None and bool(program.queries) and self.queries_of(program).is_active

    def running_queries(self) -> list[StreamingQuery]:
        """Its queries that are active."""
        queries = [led.query for led in self.program.queries] if self.program else []
        return [query for query in queries if query.isActive]

    def queries_of(self, program: Program) -> RunningJob:
        """The queries of one start, watched as one."""
        return RunningJob(self.name, [led.query for led in program.queries])

    def starts(self) -> list[Program]:
        """Every start so far."""
        return [*self.earlier_programs, *([self.program] if self.program else [])]

    def query(self, which: str | None = None) -> LedQuery:
        """The query that a sentence means, of the latest start: by its name, its order, or the first."""
        latest = self.starts()[-1] if self.starts() else None
        queries = latest.queries if latest else []
        if not queries:
            raise FeatureMistake(f"the {self.name} has started no query")
        if which is None:
            return queries[0]
        for led in queries:
            if which == led.name or ORDINALS.get(which) == led.order:
                return led
        names = ", ".join(led.name or f"number {led.order}" for led in queries)
        raise FeatureMistake(f"the {self.name} has no query '{which}'; it has: {names}")

    def seen(self, which: str | None = None) -> list[SeenBatch]:
        """The batches of a query that were seen, over all starts."""
        order = self.query(which).order if which else 1
        return [batch for start in self.starts() for led in start.queries if led.order == order for batch in led.seen]

    def all_seen(self) -> list[tuple[str | None, SeenBatch]]:
        """The batches of all queries; the first query needs no name."""
        return [
            (None if led.order == 1 else led.name or f"number {led.order}", batch)
            for start in self.starts()
            for led in start.queries
            for batch in led.seen
        ]

    def seen_in(self, start: int | None, which: str | None = None) -> list[SeenBatch]:
        """The batches of a query that were seen in one start, the latest unless it is named."""
        order = self.query(which).order if which else 1
        return [batch for led in self.start_numbered(start).queries if led.order == order for batch in led.seen]

    def start_numbered(self, number: int | None) -> Program:
        """One of its starts; the latest where no number is given."""
        starts = self.starts()
        if number is None:
            return starts[-1]
        if not 0 < number <= len(starts):
            raise FeatureMistake(f"the {self.name} has been started {len(starts)} times in this scenario")
        return starts[number - 1]

    def progress(self, which: str | None = None) -> list[BatchProgress]:
        """What a query reported of its batches, over all starts."""
        order = self.query(which).order if which else 1
        kept = [report for start in self.earlier_programs for report in start.reports.get(order, [])]
        return kept + (self._reports(self.program).get(order, []) if self.program else [])

    def progress_in(self, start: int | None, which: str | None = None) -> list[BatchProgress]:
        """The same of one start."""
        program = self.start_numbered(start)
        reports = self._reports(program) if program is self.program else program.reports
        return reports.get(self.query(which).order if which else 1, [])

    def all_progress(self) -> list[BatchProgress]:
        """The same of all queries."""
        now = self._reports(self.program) if self.program else {}
        kept = [start.reports for start in self.earlier_programs]
        return [report for reports in [*kept, now] for each in reports.values() for report in each]

    @property
    def has_ended(self) -> bool:
        """Whether it was to go on, and none of its queries does."""
        program = self.program
        return self.goes_on and program is not None and not any(led.query.isActive for led in program.queries)

    def failure(self) -> Failure | str | None:
        """Why a query, or the program itself, has failed in the latest start."""
        return self.failure_of(self.starts()[-1]) if self.starts() else None

    def unmentioned_failures(self) -> list[Failure | str]:
        """The same of all starts, where no step has mentioned it."""
        failures = [self.failure_of(start) for start in self.starts() if start not in self.failures_mentioned]
        return [failure for failure in failures if failure is not None]

    def failure_of(self, program: Program) -> Failure | str | None:
        """Why a query, or the program itself, has failed in one start."""
        if program is not self.program:
            return program.failure
        failed = self.queries_of(program).failure() if program.queries else None
        if failed is not None:
            return failed
        if program.error is not None:
            where, printed = program.where(), program.last_print
            return f"{self.name} failed at {where}: {_told(program.error)}; it printed last: {printed}"
        return None

    def rows_dropped(self, which: str | None = None) -> int:
        """How many rows watermarks have dropped and no step mentioned: of one query, or of all."""
        if which is None:
            return sum(each.rows_dropped for each in self.all_progress()) - sum(self.drops_mentioned.values())
        return sum(each.rows_dropped for each in self.progress(which)) - self.drops_mentioned.get(which, 0)

    def mention_state(self, which: str | None, *, is_empty: bool) -> None:
        """A step has said what the state holds."""
        (self.empty_states.add if is_empty else self.empty_states.discard)(which)

    def mention_drops(self, which: str | None, count: int) -> None:
        """A step has said that so many rows were dropped."""
        self.drops_mentioned[which] = self.drops_mentioned.get(which, 0) + count

    def checkpoint(self, which: str | None = None) -> Path:
        """Where a query keeps its progress."""
        return Path(self.query(which).checkpoint.removeprefix("file://").removeprefix("file:"))

    def _reports(self, program: Program) -> dict[int, list[BatchProgress]]:
        return {
            led.order: program.taken_over.get(led.order, []) + RunningJob(self.name, [led.query]).batches()
            for led in program.queries
        }


def _told(error: BaseException) -> str:
    if isinstance(error, (PySparkException, Py4JError)):
        cause = innermost_cause(str(error))
        return f"[{cause.name}] {cause.message}"
    return f"[{type(error).__name__}] {error}"


@dataclass(frozen=True)
class StagedQuery:
    """What a sentence is about: a program's query, which is the first unless the sentence says another."""

    staged: StagedProgram
    which: str | None = None
    start: int | None = None

    @property
    def name(self) -> str:
        """As a sentence says it."""
        if self.which is None:
            return self.staged.name
        said = f"{self.which} query" if self.which in ORDINALS else f'query "{self.which}"'
        return f"{said} of the {self.staged.name}"

    def led(self) -> LedQuery:
        """The query itself, of the latest start."""
        return self.staged.query(self.which)

    def seen(self) -> list[SeenBatch]:
        """Its batches, over all starts."""
        return self.staged.seen(self.which)

    def seen_in_start(self) -> list[SeenBatch]:
        """Its batches of the start that the sentence means: the latest, unless it says another."""
        return self.staged.seen_in(self.start, self.which)

    def batch(self, number: int) -> SeenBatch | None:
        """The showing of a batch in that start."""
        return next((batch for batch in reversed(self.seen_in_start()) if batch.number == number), None)

    def batches_run(self) -> set[int]:
        """The numbers of the batches that have run in that start, seen on their way or reported."""
        return {batch.number for batch in self.seen_in_start()} | {each.batch for each in self.progress_in_start()}

    def progress_in_start(self) -> list[BatchProgress]:
        """What it reported of its batches in that start."""
        return self.staged.progress_in(self.start, self.which)

    def progress(self) -> list[BatchProgress]:
        """What it reported of its batches."""
        return self.staged.progress(self.which)

    def checkpoint(self) -> Path:
        """Where it keeps its progress."""
        return self.staged.checkpoint(self.which)

    def rows_dropped(self) -> int:
        """How many rows its watermark has dropped that no step mentioned."""
        return self.staged.rows_dropped(self.which)
