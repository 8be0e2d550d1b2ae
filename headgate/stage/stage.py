"""Everything one scenario has: its own topics, jobs, tables and settings, gone when it ends."""

import io
import re
import uuid
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql import SparkSession
from pytest_bdd.parser import Step

from headgate.command.cli import main
from headgate.compare.cells import CellReader
from headgate.compare.grid import Cell, Grid, grid_of
from headgate.errors import FeatureMistake, Refusal, StepFailure
from headgate.project import Declared, find_job
from headgate.seam.program import FILES, Program, Written
from headgate.seam.session import forget_session, scenario_session
from headgate.seam.sinks import Break
from headgate.seam.surroundings import give_output_back
from headgate.seam.world import World
from headgate.spark.queries import WaitedTooLong
from headgate.stage.settling import caught_up, moves_by_itself
from headgate.stage.staged_program import ORDINALS, StagedProgram, StagedQuery
from headgate.stage.topic import Event, Topic, topics_of

ONE_START = re.compile(r"(?P<start>\w+) start(?: of the (?P<job>.+))?")
ONE_QUERY = re.compile(r'(?:(?P<order>\w+) query|query "(?P<name>[^"]+)") of the (?P<job>.+)')
PLACEHOLDER = re.compile(r"\{(kafka|folder|zone|topic [^{}]+|table [^{}]+)\}")


@dataclass
class Stage:
    """The world of one scenario."""

    spark: SparkSession
    kafka: str
    folder: Path
    patience: float
    project: Path
    day: date | None = None
    zone: str = "UTC"
    topics: dict[str, Topic] = field(default_factory=dict)
    jobs: dict[str, StagedProgram] = field(default_factory=dict)
    tables_mentioned: dict[str, int] = field(default_factory=dict)
    breaks: dict[str, list[Break]] = field(default_factory=dict)
    remembered: dict[str, object] = field(default_factory=dict)
    refused: str | None = None
    printed: str = ""
    step: Step | None = None
    failed: bool = False
    unsettled: bool = False
    """Whether something has been done since the last wait that programs may have to process."""
    suffix: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    disturb: Callable[["Stage"], None] | None = None
    """What is done to the running programs before anything is sent."""

    def __post_init__(self) -> None:
        self._held = ExitStack()
        self._held.callback(give_output_back)
        warehouse = self.folder / "warehouse"
        self.world = World(
            scenario_session(self.spark, str(warehouse)),
            self.kafka,
            self.folder,
            self.suffix,
            self.project,
            self.make_missing_topic,
        )
        self._held.callback(forget_session, self.world.spark)

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
        return self.world.spoken(text)

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

    def make_missing_topic(self, name: str) -> None:
        """A topic that a program writes to and no sentence has made, as a broker would make it by itself."""
        if name not in self.topics or not self.topics[name].exists:
            self.add_topic(name, partitions=1)

    def find_topics(self) -> None:
        """Know the topics that programs have written to without saying so beforehand."""
        for real_name, partitions in topics_of(self.kafka, self.suffix, self.patience).items():
            name = real_name.removesuffix(f"-{self.suffix}")
            self.topics.setdefault(name, Topic(name, real_name, self.kafka, partitions, exists=True))

    def send(self, topic: str, events: list[Event]) -> None:
        """Send events and let every running job process them."""
        if self.disturb is not None:
            self.disturb(self)
        self.topic(topic).send(events, self.patience)
        self.unsettled = True
        self.settle()

    # Programs.

    def settle(self) -> None:
        """Wait until every running program has processed all that is there, one feeding the other included."""
        if not self.unsettled and not self._moves_by_itself():
            return
        self._settle_all()
        # Once more as long as something has come of it: programs, and queries of one, may feed each other.
        seen = -1
        while sum(len(staged.running_queries()) for staged in self.jobs.values()) > 1 and seen != self._rows_seen():
            seen = self._rows_seen()
            self._settle_all()
        self.unsettled = False

    def _settle_all(self) -> None:
        for staged in self.jobs.values():
            self._settle(staged)

    def _settle(self, staged: StagedProgram) -> None:
        if not staged.is_running:
            return
        assert staged.program is not None
        try:
            is_done = caught_up(self.kafka, self.suffix, self.patience)
            staged.queries_of(staged.program).process_all_available(self.patience, is_done)
        except WaitedTooLong as error:
            raise StepFailure(
                f"{error}; the {staged.name} printed last: {staged.program.last_print}; --patience allows more"
            ) from None

    def _moves_by_itself(self) -> bool:
        return any(moves_by_itself(query) for staged in self.jobs.values() for query in staged.running_queries())

    def _rows_seen(self) -> int:
        return sum(report.rows_in for staged in self.jobs.values() for report in staged.all_progress())

    def break_batch(self, spoken: str, number: int, *, after_sink: bool) -> None:
        """Let a batch fail: of a query that runs, or of one that the next start will bring."""
        found = ONE_QUERY.fullmatch(spoken)
        name = self.declared(found["job"] if found else spoken).name
        which = (found["name"] or ORDINALS.get(found["order"], found["order"])) if found else 1
        broken = Break(which, number, after_sink)
        if name not in self.jobs or self.jobs[name].program is None:
            self.breaks.setdefault(name, []).append(broken)
            return
        query = self.query(spoken).led()
        if query.is_recorded:
            broken.apply(query)
        elif after_sink:
            query.obstruct(number)
        else:
            raise FeatureMistake(
                f"the {name} writes straight to {query.sink}: say that it will break before it is started"
            )

    def declared(self, spoken: str) -> Declared:
        """The program that a sentence names."""
        try:
            return find_job(self.project, spoken)
        except Refusal as refusal:
            raise FeatureMistake(str(refusal)) from None

    def staged(self, spoken: str | None = None) -> StagedProgram:
        """The program that a sentence names, or the only one there is."""
        if spoken is not None:
            name = self.declared(spoken).name
            if name not in self.jobs:
                raise FeatureMistake(f"the {spoken} has not been started in this scenario")
            return self.jobs[name]
        streams = [each for each in self.jobs.values() if any(start.queries for start in each.starts())]
        if len(streams) != 1:
            running = ", ".join(each.name for each in streams) or "none"
            raise FeatureMistake(f"say which job is meant, as in 'of the early writer': {running} started here")
        return streams[0]

    def query(self, spoken: str | None = None) -> StagedQuery:
        """What a sentence is about: `the X`, `the second query of the X`, `the query "totals" of the X`."""
        start = ONE_START.fullmatch(spoken) if spoken else None
        if start is not None and start["start"] in ORDINALS:
            return replace(self.query(start["job"]), start=ORDINALS[start["start"]])
        found = ONE_QUERY.fullmatch(spoken) if spoken else None
        if found is None:
            return StagedQuery(self.staged(spoken))
        return StagedQuery(self.staged(found["job"]), found["order"] or found["name"])

    def start_job(self, spoken: str, words: list[str]) -> None:
        """Start a program with its words, and let it process what is there."""
        staged = self.on_stage(spoken)
        staged.words = words
        self.begin(staged)

    def begin(self, staged: StagedProgram) -> None:
        """Start what is on stage, once more or for the first time."""
        self.unsettled = True
        got_there = staged.start(self.patience)
        program = staged.program
        assert program is not None
        if not got_there:
            raise StepFailure(
                f"the {staged.name} has not started a query after {self.patience:g} s: it is at {program.where()}, "
                f"and printed last: {program.last_print}; --patience allows more"
            )
        if not program.queries:
            self._judge_end(staged, program)
            if self.refused is None and program.error is None:
                raise StepFailure(
                    f"the {staged.name} has ended without starting a query: {program.declared.script}; "
                    f"it printed last: {program.last_print}. If it ends by itself, say 'the {staged.name} runs'"
                )
        self.settle()

    def run_job(self, spoken: str, words: list[str]) -> None:
        """Run a program that ends by itself to its end."""
        staged = self.on_stage(spoken)
        staged.words = words
        self.unsettled = True
        ended = staged.start(self.patience, to_its_end=True)
        program = staged.program
        assert program is not None
        if not ended:
            at, printed = program.where(), program.last_print
            raise StepFailure(
                f"the {staged.name} has not ended after {self.patience:g} s: it is at {at}, and printed last: "
                f"{printed}. If it does not end by itself, say 'the {staged.name} is running'"
            )
        self._judge_end(staged, program)
        self.printed = program.output.getvalue()
        self.settle()

    def run_tool(self, name: str, words: list[str]) -> None:
        """Run a tool of the command `headgate`."""
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            code = main([name, *words])
        self.printed = out.getvalue()
        if code:
            self.refused = self.without_suffix(" ".join(self.printed.split()))

    def on_stage(self, spoken: str) -> StagedProgram:
        """The program, in this scenario; a second start of it stops the first."""
        declared = self.declared(spoken)
        try:
            declared.check()
        except Refusal as refusal:
            raise FeatureMistake(str(refusal)) from None
        if declared.name not in self.jobs:
            self.jobs[declared.name] = StagedProgram(declared, lambda words: self._program(declared, words))
        return self.jobs[declared.name]

    def _program(self, declared: Declared, words: list[str]) -> Program:
        self.world.settings = {"spark.sql.session.timeZone": self.zone}
        filled = [self.filled(word) for word in [*declared.words, *words]]
        environment = {key: self.filled(value) for key, value in declared.environment.items()}
        program = Program(declared, self.world, filled, environment)
        program.breaks, self.breaks[declared.name] = self.breaks.get(declared.name, []), []
        return program

    def filled(self, text: str) -> str:
        """The text with its placeholders filled in: {kafka}, {topic visits}, {table devices}, {folder}, {zone}."""
        return PLACEHOLDER.sub(lambda found: self._meant(found[1]), text)

    def _meant(self, placeholder: str) -> str:
        kind, _, name = placeholder.partition(" ")
        if kind == "topic":
            return self.add_topic(name).real_name
        if kind == "table":
            return str(self.table_path(name))
        return {"kafka": self.kafka, "folder": str(self.folder), "zone": self.zone}[kind]

    def _judge_end(self, staged: StagedProgram, program: Program) -> None:
        """A program that ends with an exit code has refused what it was asked for; its last words say why."""
        if program.error is not None:
            raise StepFailure(str(staged.failure()))
        if program.exit_code:
            words = " ".join(program.output.getvalue().split())
            self.refused = self.without_suffix(words or f"exit code {program.exit_code}, without a word")

    # Tables.

    def table_path(self, name: str) -> Path:
        """Where a table of this scenario is: by the path that programs use, or by its name in their databases."""
        if "/" not in name and self.world.spark.catalog.tableExists(name):
            detail = self.world.spark.sql(f"DESCRIBE DETAIL {name}").first()
            return Path(str(detail["location"]).removeprefix("file:"))
        if "/" in name:
            return Path(self.world.place(name).removeprefix("file://"))
        return self.folder / "tables" / name

    def mention_table(self, name: str) -> Path:
        """Where the table is; what it has by now counts as mentioned."""
        self.settle()
        path = self.table_path(name)
        self.tables_mentioned[str(path)] = versions_of(path)
        return path

    def add_rows(self, name: str, rows: pa.Table) -> None:
        """Write rows to a Delta table, by its name or its path; what is there then counts as mentioned."""
        self.unsettled = True
        database = name.rpartition(".")[0]
        if "/" not in name and database:
            self.world.spark.sql(f"CREATE DATABASE IF NOT EXISTS {database}")
        writer = self.session().createDataFrame(rows).coalesce(1).write.mode("append")
        if "/" in name:
            writer.format("delta").save(self.world.place(name))
        else:
            writer.format(self._format_of_table(name)).saveAsTable(name)
        self.mention_table(name)

    def _format_of_table(self, name: str) -> str:
        if not self.world.spark.catalog.tableExists(name):
            return "delta"
        return str(self.world.spark.sql(f"DESCRIBE DETAIL {name}").first()["format"])

    def folder_of(self, path: str) -> Path:
        """The folder that programs know under this path, made if it is not there."""
        folder = Path(self.world.place(path))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put_file(self, path: str, text: str) -> None:
        """A file for programs to read; it appears whole."""
        self.unsettled = True
        target = Path(self.world.place(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.{self.suffix}")
        unfinished.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        unfinished.replace(target)
        self.mention_table(str(target.parent))

    def put_rows(self, path: str, form: str, rows: pa.Table) -> None:
        """A file with these rows in a folder for programs to read; it appears whole."""
        self.unsettled = True
        if form not in FILES:
            raise FeatureMistake(f"'{form}' is not one of {', '.join(FILES)}")
        folder, draft = self.folder_of(path), self.folder / "drafts" / uuid.uuid4().hex
        options = {"header": "true"} if form == "csv" else {}
        self.session().createDataFrame(rows).coalesce(1).write.format(form).options(**options).save(str(draft))
        for file in data_files(draft):
            file.replace(folder / file.name)
        self.mention_table(str(folder))

    def rows_of(self, path: Path) -> pa.Table:
        """What a table or a folder of files holds now."""
        if not path.exists():
            raise StepFailure(f"there is no '{self.spoken_place(path)}': no program has written there")
        written = self.written_as(path)
        return self.session().read.format(written.form).option("header", written.header).load(str(path)).toArrow()

    def session(self) -> SparkSession:
        """A session on the scenario's tables, in the feature's zone."""
        session = self.world.spark.newSession()
        session.conf.set("spark.sql.session.timeZone", self.zone)
        return session

    def spoken_place(self, path: Path) -> str:
        """A table or folder as a sentence names it."""
        for parent in ("warehouse", "tables"):
            if path.is_relative_to(self.folder / parent):
                return ".".join(path.relative_to(self.folder / parent).parts).replace(".db.", ".")
        return self.without_suffix(str(path))

    def written_as(self, path: Path) -> Written:
        """What a folder holds: Delta, or files of the kind that a program wrote, or that their names tell."""
        if (path / "_delta_log").is_dir():
            return Written("delta")
        starts = [start for staged in self.jobs.values() for start in staged.starts()]
        noted = [start.places_written[str(path)] for start in starts if str(path) in start.places_written]
        endings = {file.suffix[1:] for file in data_files(path)}
        return (noted or [Written(form, "true") for form in sorted(endings & set(FILES))] or [Written("text")])[0]

    # The end.

    def close(self) -> None:
        """Stop the programs, forget the topics, and leave nothing of the scenario in Spark."""
        with self._held:
            self._held.callback(self._forget_topics)
            for staged in self.jobs.values():
                # Each of them, in whatever state the others are; what is said last here is done first.
                self._held.callback(staged.stop)

    def _forget_topics(self) -> None:
        self.find_topics()
        for topic in self.topics.values():
            topic.delete()


def versions_of(table: Path) -> int:
    """How many versions a Delta table's log has; of a folder of other files, how many there are."""
    if (table / "_delta_log").is_dir():
        return len(list((table / "_delta_log").glob("*.json")))
    return len(data_files(table))


def data_files(folder: Path) -> list[Path]:
    """The files that Spark reads in a folder."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if not any(part[0] in "._" for part in file.relative_to(folder).parts))
