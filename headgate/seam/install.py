"""Everything of PySpark, and of Python around it, that is replaced: the whole list, in one place.

A replacement asks which program the calling code belongs to. Code of no program gets the original.
"""

import atexit
import builtins
import importlib
import inspect
import logging
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from delta.tables import DeltaTable, DeltaTableBuilder
from pyspark import SparkContext
from pyspark.cloudpickle import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager

from headgate.seam.current import current
from headgate.seam.program import INSTALLED, Program
from headgate.seam.readers import LedReader, LedStreamReader
from headgate.seam.surroundings import ProgramEnvironment, own_modules
from headgate.seam.writers import LedStreamWriter, LedWriter

Replacement = Callable[..., Any]
CHANGES = re.compile(r"\s*(insert|merge|update|delete|create|replace|truncate)\b", re.IGNORECASE)


@contextmanager
def installed() -> Iterator[None]:
    """While it is in force, programs of scenarios are led."""
    undo = [replace(owner, name, how) for owner, name, how in REPLACED]
    environment = os.environ
    os.environ = ProgramEnvironment(environment)  # noqa: B003
    try:
        yield
    finally:
        os.environ = environment  # noqa: B003
        for back in reversed(undo):
            back()


def replace(owner: Any, name: str, how: Replacement) -> Callable[[], None]:
    """Let programs get something else; gives what takes it back."""
    before = inspect.getattr_static(owner, name)
    original = before.__func__ if isinstance(before, (classmethod, staticmethod)) else before
    getter: Any = original.fget if isinstance(original, property) else original

    def led(*arguments: Any, **named: Any) -> Any:
        program = current()
        if program is None:
            return getter(*arguments, **named)
        return how(program, getter, *arguments, **named)

    replaced: Any = led
    if isinstance(before, property):
        replaced = property(led)
    elif isinstance(before, classmethod):
        replaced = classmethod(led)
    elif isinstance(before, staticmethod):
        replaced = staticmethod(led)
    setattr(owner, name, replaced)
    return lambda: setattr(owner, name, before)


# Sessions.


def _get_or_create(program: Program, original: Any, builder: Any) -> SparkSession:
    return program.session(builder._options)


def _active_session(program: Program, original: Any, owner: Any) -> SparkSession:
    return program.session()


def _new_session(program: Program, original: Any, session: SparkSession) -> SparkSession:
    made: SparkSession = original(session)
    program.adopt(made)
    return made


def _make_session(
    program: Program, original: Any, session: Any, context: Any, java: Any = None, *rest: Any, **named: Any
) -> None:
    """`SparkSession(context)`, as older programs write it."""
    if java is None and "jsparkSession" not in named and program._session is not None:
        java = program._session._jsparkSession
    elif java is None and "jsparkSession" not in named:
        java = program.world.spark.newSession()._jsparkSession
    original(session, context, java, *rest, **named)


def _stop_session(program: Program, original: Any, session: SparkSession) -> None:
    program.end_queries()


def _make_context(program: Program, original: Any, owner: Any, *arguments: Any, **named: Any) -> SparkContext:
    return program.world.spark.sparkContext


def _begin_context(program: Program, original: Any, context: SparkContext, *arguments: Any, **named: Any) -> None:
    """`SparkContext(...)` is the run's context under another handle."""
    context.__dict__ = program.world.spark.sparkContext.__dict__


def _sql(program: Program, original: Any, session: SparkSession, sqlQuery: str, *rest: Any, **named: Any) -> Any:
    if CHANGES.match(sqlQuery):
        program.note_write()
    return original(session, program.world.sql(sqlQuery), *rest, **named)


def _table(program: Program, original: Any, session: SparkSession, tableName: str) -> Any:
    return original(session, program.world.sql(tableName))


# Places that are named elsewhere than in readers and writers.


def _by_first_path(program: Program, original: Any, owner: Any, path: str, *rest: Any, **named: Any) -> Any:
    return original(owner, program.world.place(path), *rest, **named)


def _by_path_after_session(
    program: Program, original: Any, owner: Any, spark: Any, path: str, *rest: Any, **named: Any
) -> Any:
    program.note_write()
    return original(owner, spark, program.world.place(path), *rest, **named)


def _by_name(program: Program, original: Any, owner: Any, spark: Any, name: str, *rest: Any, **named: Any) -> Any:
    program.note_write()
    return original(owner, spark, program.world.sql(name), *rest, **named)


def _by_identifier(program: Program, original: Any, owner: Any, spark: Any, identifier: str, *rest: Any) -> Any:
    return original(owner, spark, program.world.sql(identifier), *rest)


# Queries and threads.


def _await(program: Program, original: Any, *arguments: Any, **named: Any) -> Any:
    program.awaits.set()
    return original(*arguments, **named)


def _add_listener(program: Program, original: Any, manager: Any, listener: Any) -> None:
    original(manager, program.in_program(listener))


def _make_thread(program: Program, original: Any, thread: threading.Thread, *arguments: Any, **named: Any) -> None:
    """What a program starts is a daemon only if it says so, though the program's own thread is one."""
    original(thread, *arguments, **named)
    thread.daemon = bool(named.get("daemon"))


def _start_thread(program: Program, original: Any, thread: threading.Thread) -> None:
    """A thread that a program starts belongs to it; a process lives as long as its threads do."""
    if str(sys._getframe(2).f_globals.get("__name__")).startswith("py4j."):
        # The threads on which Java calls back serve the whole run, whoever calls first.
        original(thread)
        return
    context, run = copy_context(), thread.run
    if _is_called_by(program, 3):
        run = partial(_run_thread, run)
        if not thread.daemon:
            program.threads.append(thread)
    thread.run = lambda: context.run(run)  # type: ignore[method-assign]
    # The run must not wait for it.
    thread.daemon = True
    original(thread)


def _run_thread(run: Callable[[], None]) -> None:
    try:
        run()
    except Exception:
        # As Python does at the end of a thread.
        traceback.print_exc()


def _is_called_by(program: Program, frames: int) -> bool:
    """Whether it is the program itself that calls, and not a library that it uses."""
    return program.is_own_file(sys._getframe(frames).f_code.co_filename)


def _sleep(program: Program, original: Any, seconds: float) -> None:
    program.sleep(seconds)


def _handle_signal(program: Program, original: Any, number: int, handler: Any) -> Any:
    before = program.handlers.get(number, signal.SIG_DFL)
    program.handlers[number] = handler
    return before


def _exit_now(program: Program, original: Any, code: int) -> None:
    """`os._exit` would end the whole run."""
    raise SystemExit(code)


def _at_exit(program: Program, original: Any, function: Any, *arguments: Any, **named: Any) -> Any:
    """What the program itself wants done at its end; what a library wants is for the end of the run."""
    if not _is_called_by(program, 3):
        return original(function, *arguments, **named)
    program.at_exit.append(lambda: function(*arguments, **named))
    return function


def _configure_logging(program: Program, original: Any, **how: Any) -> None:
    """As in a process of its own, though the run has handlers already: a program's records go to its output."""
    root = logging.getLogger()
    others, level = root.handlers, root.level
    root.handlers = []
    try:
        original(**how)
        own = root.handlers
    finally:
        root.handlers = others
    for handler in own:
        handler.addFilter(lambda record: current() is program)
        root.addHandler(handler)
        program.undo.append(partial(root.removeHandler, handler))
    program.undo.append(lambda: root.setLevel(level))


def _leave_log_level(program: Program, original: Any, context: SparkContext, logLevel: str) -> None:
    """Spark's log is the run's."""


def _pickled_by_value(module: ModuleType) -> bool:
    """Modules of a program go to Spark's workers with the functions that need them."""
    file = getattr(module, "__file__", None)
    is_installed = file is None or bool(set(Path(file).parts) & set(INSTALLED))
    program = current()
    return not is_installed and program is not None and program.is_own_file(str(file))


def _is_by_value(program: Program, original: Any, module: ModuleType) -> bool:
    return _pickled_by_value(module) or bool(original(module))


def _import(
    program: Program,
    original: Any,
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Any = (),
    level: int = 0,
) -> ModuleType:
    """An import that comes late, when the modules of the program have left `sys.modules`."""
    from_package = (globals or {}).get("__package__") or ""
    with _modules_for(program, name if level == 0 else from_package):
        module: ModuleType = original(name, globals, locals, fromlist, level)
        return module


def _import_module(program: Program, original: Any, name: str, package: str | None = None) -> ModuleType:
    with _modules_for(program, package if package and name.startswith(".") else name):
        module: ModuleType = original(name, package)
        return module


def _modules_for(program: Program, name: str) -> AbstractContextManager[None]:
    is_late = not program.is_starting and program.has_module(name.partition(".")[0])
    return own_modules(program) if is_late else nullcontext()


REPLACED: list[tuple[Any, str, Replacement]] = [
    (SparkSession.Builder, "getOrCreate", _get_or_create),
    (SparkSession, "getActiveSession", _active_session),
    (SparkSession, "__init__", _make_session),
    (SparkSession, "newSession", _new_session),
    (SparkSession, "stop", _stop_session),
    (SparkSession, "sql", _sql),
    (SparkSession, "table", _table),
    (SparkSession, "read", lambda program, _, session: LedReader(session, program)),
    (SparkSession, "readStream", lambda program, _, session: LedStreamReader(session, program)),
    (DataFrame, "write", lambda program, _, frame: LedWriter(frame, program)),
    (DataFrame, "writeStream", lambda program, _, frame: LedStreamWriter(frame, program)),
    (SparkContext, "__init__", _begin_context),
    (SparkContext, "getOrCreate", _make_context),
    (SparkContext, "stop", _stop_session),
    (SparkContext, "setLogLevel", _leave_log_level),
    (SparkContext, "textFile", _by_first_path),
    (SparkContext, "wholeTextFiles", _by_first_path),
    (SparkContext, "setCheckpointDir", _by_first_path),
    (DeltaTable, "forPath", _by_path_after_session),
    (DeltaTable, "forName", _by_name),
    (DeltaTable, "isDeltaTable", _by_path_after_session),
    (DeltaTable, "convertToDelta", _by_identifier),
    (DeltaTableBuilder, "location", _by_first_path),
    (StreamingQuery, "awaitTermination", _await),
    (StreamingQueryManager, "awaitAnyTermination", _await),
    (StreamingQueryManager, "addListener", _add_listener),
    (threading.Thread, "__init__", _make_thread),
    (threading.Thread, "start", _start_thread),
    (signal, "signal", _handle_signal),
    (time, "sleep", _sleep),
    (builtins, "__import__", _import),
    (importlib, "import_module", _import_module),
    (os, "_exit", _exit_now),
    (atexit, "register", _at_exit),
    (logging, "basicConfig", _configure_logging),
    (cloudpickle, "_is_registered_pickle_by_value", _is_by_value),
]
