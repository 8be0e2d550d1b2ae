"""Everything one scenario has: its own topics, jobs, tables and settings, gone when it ends."""

import argparse
import io
import uuid
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession
from pytest_bdd.parser import Step

from jobs.arguments import parse, parser_of, session_settings
from jobs.catalog import all_jobs
from jobs.job import AnyJob, BatchJob, Refusal, StreamingJob, Tool
from jobs.options import TOPIC_OPTIONS
from jobs.running import WaitedTooLong
from steps.cells import CellReader
from steps.errors import FeatureMistake, StepFailure
from steps.grid import Cell, Grid, grid_of
from steps.staged_job import StagedJob
from steps.topic import Event, Topic

QUICK_POLL = "fetch.max.wait.ms=10"


@dataclass
class Stage:
    """The world of one scenario."""

    spark: SparkSession
    kafka: str
    folder: Path
    patience: float
    day: date | None = None
    zone: str = "UTC"
    topics: dict[str, Topic] = field(default_factory=dict)
    jobs: dict[str, StagedJob] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)
    tables_mentioned: dict[str, int] = field(default_factory=dict)
    remembered: dict[str, object] = field(default_factory=dict)
    refused: str | None = None
    printed: str = ""
    step: Step | None = None
    failed: bool = False
    suffix: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    # What a sentence needs to be read.

    def grid(self) -> Grid:
        """The table under the current step."""
        assert self.step is not None
        return grid_of(self.step)

    def cells(self) -> CellReader:
        """How to read the feature's cells."""
        return CellReader(self.day, self.zone)

    def moment(self, text: str) -> datetime:
        """A time named in the current step."""
        line = self.step.line_number if self.step else 0
        return self.cells().moment(Cell(text, "the sentence", line), text)

    def clock(self, time: datetime | None) -> str:
        """A time as the feature would write it."""
        if time is None:
            return "none"
        local = time.astimezone(ZoneInfo(self.zone))
        shown = local.strftime("%H:%M" if (local.second, local.microsecond) == (0, 0) else "%H:%M:%S.%f")
        return shown if local.date() == self.day else f"{local.date()} {shown}"

    def shown(self, value: object) -> str:
        """A value as the feature would write it."""
        if isinstance(value, datetime):
            return self.clock(value if value.tzinfo else value.replace(tzinfo=ZoneInfo(self.zone)))
        if isinstance(value, dict) and set(value) == {"start", "end"}:
            return f"{self.shown(value['start'])} to {self.shown(value['end'])}"
        return str(value).lower() if isinstance(value, bool) else str(value)

    def without_suffix(self, text: str) -> str:
        """The text with topics under the names that the feature gives them, and paths without the folder."""
        for topic in self.topics.values():
            text = text.replace(topic.real_name, topic.name)
        return text.replace(f"{self.folder}/", "")

    # Topics.

    def topic(self, name: str) -> Topic:
        """A topic that the feature has named."""
        if name not in self.topics:
            known = ", ".join(f'"{each}"' for each in self.topics) or "none yet"
            raise FeatureMistake(f'there is no topic "{name}" in this scenario (topics: {known})')
        return self.topics[name]

    def add_topic(self, name: str, partitions: int | None = None, **config: str) -> Topic:
        """A topic of this scenario; made on the broker if `partitions` is given."""
        if name not in self.topics:
            self.topics[name] = Topic(name, f"{name}-{self.suffix}", self.kafka, partitions or 1)
        if partitions is not None:
            self.topics[name].create(self.patience, **config)
        return self.topics[name]

    def send(self, topic: str, events: list[Event]) -> None:
        """Send events and let every running job process them."""
        self.topic(topic).send(events, self.patience)
        self.settle()

    # Jobs.

    def settle(self) -> None:
        """Wait until every running job has processed all that is there."""
        for staged in self.jobs.values():
            if staged.running is not None and staged.failure() is None:
                try:
                    staged.running.process_all_available(self.patience)
                except WaitedTooLong as error:
                    raise StepFailure(f"{error}; --patience allows more") from None

    def known_job(self, spoken: str) -> AnyJob:
        """The job that a sentence names."""
        jobs = all_jobs()
        name = spoken.strip().replace(" ", "-")
        if name not in jobs:
            known = ", ".join(each.replace("-", " ") for each in jobs)
            raise FeatureMistake(f"there is no job '{spoken}'; there are: {known}")
        return jobs[name]

    def staged(self, spoken: str | None = None) -> StagedJob:
        """The job that a sentence names, or the only one there is."""
        if spoken is not None:
            name = self.known_job(spoken).name
            if name not in self.jobs:
                raise FeatureMistake(f"the {spoken} has not been started in this scenario")
            return self.jobs[name]
        if len(self.jobs) != 1:
            running = ", ".join(each.name for each in self.jobs.values()) or "none"
            raise FeatureMistake(f"say which job is meant, as in 'of the early writer': {running} started here")
        return next(iter(self.jobs.values()))

    def start_job(self, spoken: str, words: list[str]) -> None:
        """Start a streaming job with the options that its command line has."""
        job = self.known_job(spoken)
        if not isinstance(job, StreamingJob):
            raise FeatureMistake(f"the {spoken} ends by itself: say 'the {spoken} runs with …'")
        self._attempt(lambda: self._start(job, words))
        self.settle()

    def run_job(self, spoken: str, words: list[str]) -> None:
        """Run a batch job or a tool to its end."""
        job = self.known_job(spoken)
        if isinstance(job, StreamingJob):
            raise FeatureMistake(f"the {spoken} does not end by itself: say 'the {spoken} is running'")
        self._attempt(lambda: self._run(job, words))
        self.settle()

    def table_path(self, name: str) -> Path:
        """Where a table of this scenario is."""
        return self.tables.setdefault(name, self.folder / "tables" / name)

    def mention_table(self, name: str) -> Path:
        """Where the table is; what it has by now counts as mentioned."""
        self.settle()
        self.tables_mentioned[name] = self.table_versions(name)
        return self.table_path(name)

    def table_versions(self, name: str) -> int:
        """How many versions the table's log has."""
        return len(list((self.table_path(name) / "_delta_log").glob("*.json")))

    def _start(self, job: StreamingJob, words: list[str]) -> None:
        options = parse(job, self._own_words(job, words))
        if job.name not in self.jobs:
            self.jobs[job.name] = StagedJob(job, options, self._session(job, options))
        self.jobs[job.name].options = options
        self.jobs[job.name].start()

    def _run(self, job: BatchJob | Tool, words: list[str]) -> None:
        options = parse(job, self._own_words(job, words))
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            if isinstance(job, Tool):
                ended = job.run(options)
            else:
                ended = 0
                job.run(self._session(job, options), options)
        self.printed = out.getvalue()
        if ended != 0:
            raise Refusal(self.printed.strip())

    def _own_words(self, job: AnyJob, words: list[str]) -> list[str]:
        """The words, with this scenario's own broker, topics and folders in place of those named."""
        try:
            named = vars(parser_of(job).parse_args(words))
        except Refusal as refusal:
            raise FeatureMistake(str(refusal)) from None
        own = {"kafka": self.kafka}
        if "--time-zone" not in words:
            own["time_zone"] = self.zone
        if isinstance(job, StreamingJob):
            own["kafka_option"] = QUICK_POLL
            named["checkpoint"] = named["checkpoint"] or job.name
            named["dead_letter_topic"] = named["dead_letter_topic"] or f"{named['topic']}-rejected"
        for option in TOPIC_OPTIONS:
            if named.get(option) is not None:
                own[option] = self.add_topic(named[option]).real_name
        if isinstance(job, StreamingJob):
            own["checkpoint"] = str(self.folder / "checkpoints" / named["checkpoint"])
        if named.get("table") is not None:
            own["table"] = str(self.table_path(named["table"]))
        return words + [
            word for name, value in own.items() if name in named for word in (f"--{name.replace('_', '-')}", value)
        ]

    def _session(self, job: AnyJob, options: argparse.Namespace) -> SparkSession:
        session = self.spark.newSession()
        for key, value in session_settings(job, options).items():
            session.conf.set(key, value)
        return session

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Refusal as refusal:
            self.refused = self.without_suffix(str(refusal))

    # The end.

    def close(self) -> None:
        """Stop the jobs and forget the topics."""
        for staged in self.jobs.values():
            staged.stop()
        for topic in self.topics.values():
            topic.delete()
