"""A program under test, running in a thread of its own as production runs it."""

import ctypes
import importlib
import io
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQueryListener

from headgate.project import Declared
from headgate.seam.current import PROGRAM
from headgate.seam.session import apply_settings, program_session
from headgate.seam.sinks import Break, LedQuery
from headgate.seam.surroundings import keep_output, surroundings
from headgate.seam.world import World
from headgate.spark.progress import BatchProgress
from headgate.spark.queries import Failure

LOOK_SECONDS = 0.02
# A program that has a query, and starts no other for so long, has got where it wants to be.
QUIET_SECONDS = 1.5
# A program that waits for its queries ends as soon as they have.
GRACE_SECONDS = 2.0
END_SECONDS = 10.0
FILES = ("parquet", "json", "csv", "text", "orc")
INSTALLED = ("site-packages", "dist-packages")
GATE = Path(__file__).parents[1]


class Closing(SystemExit):
    """Ends a program that starts a query while it is being stopped."""


@dataclass(frozen=True)
class Written:
    """How files were written: their format, and whether their first line is a heading."""

    form: str
    header: str = "false"


class Program:
    """One start of a declared program."""

    def __init__(self, declared: Declared, world: World, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self.declared = declared
        self.name = declared.name
        self.world = world
        self.words = list(words)
        self.environment: dict[str, str | None] = dict(environment)
        """Its own variables, over those of the run; None where it has deleted one."""
        self.queries: list[LedQuery] = []
        self.output = io.StringIO()
        self.topics_written: set[str] = set()
        self.topics_by_column = False
        self.places_written: dict[str, Written] = {}
        """Folders of files that it has written."""
        self.writes = 0
        self.breaks: list[Break] = []
        self.handlers: dict[int, Any] = {}
        self.threads: list[threading.Thread] = []
        self.at_exit: list[Callable[[], object]] = []
        self.undo: list[Callable[[], object]] = []
        """Takes back what it has set for the whole process."""
        self.modules: dict[str, ModuleType] = {}
        self.is_starting = False
        self.exit_code: int | None = None
        self.error: BaseException | None = None
        self.failure: Failure | str | None = None
        """Why it or one of its queries had failed when it was stopped."""
        self.reports: dict[int, list[BatchProgress]] = {}
        self.taken_over: dict[int, list[BatchProgress]] = {}
        """What the start that this one goes on from had reported."""
        self.ended = threading.Event()
        self.awaits = threading.Event()
        self._session: SparkSession | None = None
        self._closing = False
        self._interrupted = threading.Event()
        self._started_last = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"program {self.name}", daemon=True)

    # Its life.

    def start(self, seconds: float, *, to_its_end: bool = False) -> bool:
        """Start it and wait until it has got there: it waits for its queries, or has ended. Tells whether it did."""
        keep_output()
        with surroundings(self):
            self._thread.start()
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                if self.ended.wait(LOOK_SECONDS) or (not to_its_end and self._has_got_there()):
                    return True
        return False

    def stop(self, stop_queries: Callable[[], None]) -> None:
        """End its queries, then the program itself, the way that it provides for; leave nothing of it in force."""
        try:
            self._stop(stop_queries)
        finally:
            while self.undo:
                self.undo.pop()()

    def _stop(self, stop_queries: Callable[[], None]) -> None:
        self._closing = True
        stop_queries()
        if self.ended.wait(GRACE_SECONDS):
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            if callable(self.handlers.get(number)):
                self._signal(number)
                if self.ended.wait(END_SECONDS):
                    return
        self._interrupt()
        self.ended.wait(END_SECONDS)

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return not self.ended.is_set()

    @property
    def last_print(self) -> str:
        """What it printed last."""
        lines = [line for line in self.output.getvalue().splitlines() if line.strip()]
        return lines[-1] if lines else "nothing"

    def where(self) -> str:
        """File and line of the program that runs now, or at which it was left."""
        frames: list[traceback.FrameSummary] = []
        if self.error is not None:
            frames = list(traceback.extract_tb(self.error.__traceback__))
        elif self._thread.ident in sys._current_frames():
            frames = list(traceback.extract_stack(sys._current_frames()[self._thread.ident]))
        own = [frame for frame in frames if self.is_own_file(frame.filename)]
        if not own:
            return str(self.declared.script)
        return f"{own[-1].filename}:{own[-1].lineno}"

    def is_own_file(self, file: str) -> bool:
        """Whether the file is the program's, and not of an installed package or of the gate."""
        return _is_below(file, (self.declared.script.parent, self.declared.project))

    def has_module(self, name: str) -> bool:
        """Whether a top-level module is the program's own: one that it has, or one in its folders."""
        if name in self.modules:
            return True
        found = PathFinder.find_spec(name, self.import_folders)
        return found is not None and found.origin is not None and self.is_own_file(found.origin)

    @property
    def import_folders(self) -> list[str]:
        """Where its imports are looked for, the folder of the program itself first."""
        project, beside = self.declared.project, self.declared.script.parent
        home = [project] if self.declared.is_entry_point else [beside, project]
        return [str(folder) for folder in [*home, project / "src"]]

    def _run(self) -> None:
        PROGRAM.set(self)
        try:
            self._play_to_its_end(self._play)
            self._play_to_its_end(self._outlive_threads)
            while self.at_exit:
                self._play_to_its_end(self.at_exit.pop())
        finally:
            self.ended.set()

    def _play_to_its_end(self, part: Callable[[], object]) -> None:
        try:
            self._ends(_exit_code(part()))
        except SystemExit as end:
            self._ends(_exit_code(end.code))
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException as error:
            if not self._closing:
                self.error = self.error or error
            self._ends(1)

    def _outlive_threads(self) -> None:
        while self.threads:
            thread = self.threads.pop()
            while thread.is_alive() and not self._interrupted.is_set():
                thread.join(LOOK_SECONDS)

    def _ends(self, code: int) -> None:
        self.exit_code = self.exit_code or code

    def _play(self) -> object:
        script = self.declared.script
        if self.declared.is_entry_point:
            module, _, function = self.declared.run.partition(":")
            entry: Any = importlib.import_module(module)
            for part in function.split("."):
                entry = getattr(entry, part)
            return entry()
        main = sys.modules["__main__"]
        exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)
        return 0

    def _has_got_there(self) -> bool:
        if not self.queries:
            return False
        return self.awaits.is_set() or time.monotonic() - self._started_last > QUIET_SECONDS

    def _signal(self, number: int) -> None:
        handler = self.handlers.get(number)
        if callable(handler):
            thread = threading.Thread(target=self._handle, args=[handler, number], daemon=True)
            thread.start()
            thread.join(END_SECONDS)

    def _handle(self, handler: Any, number: int) -> None:
        PROGRAM.set(self)
        try:
            handler(number, None)
        except BaseException:
            self._interrupt()

    def _interrupt(self) -> None:
        """What Ctrl-C would do, in the program's own thread."""
        self._interrupted.set()
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(KeyboardInterrupt)
            )

    # What the seam asks of it.

    def session(self, settings: Mapping[str, object] | None = None) -> SparkSession:
        """Its session, made at the first call; later settings are added."""
        if self._session is None:
            self._session = program_session(self.world, {**self.declared.settings, **(settings or {})})
        elif settings:
            apply_settings(self._session, settings)
        SparkSession._get_j_spark_session_class(self._session._jvm).setActiveSession(self._session._jsparkSession)
        return self._session

    def adopt(self, session: SparkSession) -> None:
        """Take a session that the program has made itself as one of its own."""
        apply_settings(session, self.world.settings)

    def end_queries(self) -> None:
        """What `spark.stop()` does to a program's queries."""
        for led in self.queries:
            if led.query is not None and led.query.isActive:
                led.query.stop()

    def new_query(self, name: str | None, sink: str, checkpoint: str) -> LedQuery:
        """A query that is about to start."""
        self._started_last = time.monotonic()
        self.awaits.clear()
        made = LedQuery(len(self.queries) + 1, name, sink, checkpoint)
        for broken in self.breaks:
            if broken.which in (made.name, made.order):
                broken.apply(made)
        return made

    def refuse_if_closing(self) -> None:
        """A program that is being stopped starts nothing more."""
        if self._closing:
            raise Closing(0)

    def sleep(self, seconds: float) -> None:
        """`time.sleep` in a program, which Ctrl-C would end."""
        if self._interrupted.wait(seconds):
            raise KeyboardInterrupt

    def note_topic(self, real_name: str) -> None:
        """The program writes to this topic."""
        plain = self.world.plain_topic(real_name)
        self.topics_written.add(plain)
        self.world.make_topic(plain)
        self.note_write()

    def note_write(self, source: str = "", place: str | None = None, header: object = False) -> None:
        """The program writes to a sink of its own: a topic, a table, files."""
        self.writes += 1
        if source in FILES and place is not None:
            self.places_written[place] = Written(source, str(header).lower())

    def in_program(self, listener: StreamingQueryListener) -> StreamingQueryListener:
        """A listener whose methods run as part of the program, though Spark calls them from elsewhere."""
        for method in ("onQueryStarted", "onQueryProgress", "onQueryIdle", "onQueryTerminated"):
            if hasattr(listener, method):
                setattr(listener, method, self._bound(getattr(listener, method)))
        return listener

    def take_over(self, before: "Program") -> None:
        """Count as one start with the one before, which a disturbance has ended."""
        self.taken_over = before.reports
        self.topics_written |= before.topics_written
        self.topics_by_column |= before.topics_by_column
        self.places_written |= before.places_written
        for led, earlier in zip(self.queries, before.queries, strict=False):
            led.seen[:0] = earlier.seen

    def _bound(self, function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            token = PROGRAM.set(self)
            try:
                return function(*arguments)
            finally:
                PROGRAM.reset(token)

        return run


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    return code if isinstance(code, int) else 1


@cache
def _is_below(file: str, homes: tuple[Path, ...]) -> bool:
    path = Path(file)
    if set(path.parts) & set(INSTALLED) or path.is_relative_to(GATE):
        return False
    return any(path.is_relative_to(home) for home in homes)
