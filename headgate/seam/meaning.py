"""Calls of meaning that programs make of PySpark: noted with their places, and changed one at a time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from delta.tables import DeltaMergeBuilder
from pyspark.sql.classic.column import Column
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.conf import RuntimeConfig
from pyspark.sql.functions import builtin
from pyspark.sql.group import GroupedData

from headgate.seam import variants as vary
from headgate.seam.changed_code import CodeChange
from headgate.seam.changed_state import ChangedProcessor, StateChange, changed_function, state_changes
from headgate.seam.install import replace
from headgate.seam.program import GATE, INSTALLED, Program
from headgate.seam.readers import LedReader, LedStreamReader
from headgate.seam.variants import Call, Variant, Vary
from headgate.seam.world import World
from headgate.seam.writers import LedStreamWriter, LedWriter

OWN = (__file__, vary.__file__, str(GATE / "seam" / "install.py"))
# Through these a program's own call comes to the call that is watched.
PASSING = tuple(str(GATE / "seam" / name) for name in ("readers.py", "writers.py"))
# PySpark itself calls it too, as `first()` does: only the program's own call is meant.
DIRECT = ("",)
SESSIONS = (str(GATE / "seam"), str(GATE / "spark"))


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of one call: where, which, and what becomes of it."""

    file: str
    line: int
    call: str
    name: str
    shown: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.call} {self.name}"


class Watch:
    """Notes what could be changed in the programs that run; plays one change."""

    def __init__(self) -> None:
        self.noted: set[Mutant] = set()
        self.playing: Mutant | None = None
        self.hits = 0
        self._busy: ContextVar[bool] = ContextVar("busy", default=False)

    def call(self, what: str, make: Vary, passing: tuple[str, ...], call: Call) -> Any:
        """A watched call: note it, and change it if it is the one."""
        place = None if self._busy.get() else own_place(call.program, passing)
        if place is None:
            return call.original(*call.arguments, **call.named)
        token = self._busy.set(True)
        try:
            found = {self._mutant(call.program, what, place, each): each for each in _all(make, call)}
            self.noted |= found.keys()
            if self.playing in found:
                self.hits += 1
                return found[self.playing].play()
        finally:
            self._busy.reset(token)
        return call.original(*call.arguments, **call.named)

    def _mutant(self, program: Program, what: str, place: tuple[str, int], variant: Variant) -> Mutant:
        file, line = variant.place or place
        project = program.declared.project
        path = Path(file)
        shown = path.relative_to(project).as_posix() if path.is_relative_to(project) else path.name
        return Mutant(shown, line, variant.what or what, variant.name, program.world.spoken(variant.shown))


def _all(make: Vary, call: Call) -> list[Variant]:
    try:
        return list(make(call))
    except Exception:
        # The call itself is wrong, and will say so.
        return []


def own_place(program: Program, passing: tuple[str, ...] = ()) -> tuple[str, int] | None:
    """File and line of the program's own call, if it is the program that calls and not the seam."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if program.is_own_file(file):
            return file, frame.f_lineno
        if not _is_on_the_way(file, passing):
            return None
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _is_on_the_way(file: str, passing: tuple[str, ...]) -> bool:
    if passing is DIRECT:
        return file in OWN
    return (
        passing is SESSIONS or file in OWN or file.startswith(passing) or bool(set(Path(file).parts) & set(INSTALLED))
    )


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """While it is in force, calls of meaning are noted, and the one that is to be played is changed."""
    undo = [replace(owner, name, partial(_watched, watch, *how)) for owner, name, how in _meant()]
    try:
        yield
    finally:
        for back in reversed(undo):
            back()


def _watched(
    watch: Watch,
    what: str,
    make: Vary,
    passing: tuple[str, ...],
    program: Program,
    original: Any,
    *arguments: Any,
    **named: Any,
) -> Any:
    return watch.call(what, make, passing, Call(program, original, arguments, named))


# State functions, which run elsewhere.


def _processor(call: Call) -> Iterator[Variant]:
    processor = call.get(1, "statefulProcessor")
    for change in state_changes(processor):
        if isinstance(change, CodeChange):
            yield _code(change, call)
        else:
            yield _state(change, call.having(1, "statefulProcessor", ChangedProcessor(processor, change)))


def _state_function(call: Call) -> Iterator[Variant]:
    function = call.get(1, "func")
    for change in state_changes(function):
        if isinstance(change, CodeChange):
            yield _code(change, call)
        else:
            yield _state(change, call.having(1, "func", changed_function(function, change)))


def _state(change: StateChange, play: Any) -> Variant:
    name = f"{change.method} {change.how}"
    return Variant(name, f"{change.method} -> {change.how}", play, (change.file, change.first))


def _code(change: CodeChange, call: Call) -> Variant:
    def play() -> Any:
        change.apply()
        return call.original(*call.arguments, **call.named)

    return Variant(change.name, change.shown, play, (change.code.co_filename, change.line), "value")


# What is watched.

How = tuple[str, Vary, tuple[str, ...]]
OPERATORS = {
    "__gt__": ("__ge__", ">", ">="),
    "__ge__": ("__gt__", ">=", ">"),
    "__lt__": ("__le__", "<", "<="),
    "__le__": ("__lt__", "<=", "<"),
    "__eq__": ("__ne__", "==", "!="),
    "__ne__": ("__eq__", "!=", "=="),
    "__and__": ("__or__", "&", "|"),
    "__or__": ("__and__", "|", "&"),
    "__add__": ("__sub__", "+", "-"),
    "__sub__": ("__add__", "-", "+"),
    "__mul__": ("__add__", "*", "+"),
    "isNull": ("isNotNull", "isNull", "isNotNull"),
    "isNotNull": ("isNull", "isNotNull", "isNull"),
}


def _meant() -> list[tuple[Any, str, How]]:
    """Every call that is watched: the whole list."""
    frames: dict[str, tuple[str, Vary]] = {
        "withWatermark": ("watermark", vary.watermark),
        "filter": ("filter", vary.condition),
        "dropDuplicates": ("dropDuplicates", vary.duplicates),
        "dropDuplicatesWithinWatermark": ("dropDuplicates", vary.duplicates),
        "distinct": ("distinct", vary.gone("distinct")),
        "union": ("union", vary.gone("union")),
        "unionByName": ("union", vary.gone("union")),
        "sort": ("sort", vary.gone("sort")),
        "dropna": ("dropna", vary.gone("dropna")),
        "fillna": ("fillna", vary.gone("fillna")),
        "join": ("join", vary.join),
        "groupBy": ("groupBy", vary.keys),
        "select": ("select", vary.columns),
        "selectExpr": ("selectExpr", vary.expressions),
        "withColumn": ("withColumn", vary.new_column),
    }
    watched: list[tuple[Any, str, How]] = [(DataFrame, name, (*how, ())) for name, how in frames.items()]
    watched += [(GroupedData, name, ("groups", vary.grouped(name), ())) for name in ("count", "sum", "min", "max")]
    watched += [
        (DataFrame, "limit", ("limit", vary.limit, DIRECT)),
        (GroupedData, "transformWithState", ("state", _processor, ())),
        (GroupedData, "transformWithStateInPandas", ("state", _processor, ())),
        (GroupedData, "applyInPandasWithState", ("state", _state_function, ())),
        (builtin, "_invoke_function", ("function", vary.function, ())),
        (World, "sql", ("sql", vary.statement, ())),
        (RuntimeConfig, "set", ("time zone", vary.zone_set, ())),
        (Program, "session", ("time zone", vary.zone, SESSIONS)),
        (LedStreamWriter, "outputMode", ("output mode", vary.output_mode, PASSING)),
        (LedStreamWriter, "trigger", ("trigger", vary.trigger, ())),
        (LedStreamWriter, "foreachBatch", ("foreachBatch", vary.batches, ())),
        (LedStreamWriter, "partitionBy", ("partitionBy", vary.partitions, PASSING)),
        (LedWriter, "partitionBy", ("partitionBy", vary.partitions, PASSING)),
        (LedWriter, "mode", ("mode", vary.mode, PASSING)),
    ]
    for name in ("whenMatchedUpdate", "whenMatchedUpdateAll", "whenMatchedDelete", "whenNotMatchedInsert"):
        watched.append((DeltaMergeBuilder, name, ("merge", vary.merged, ())))
    watched.append((DeltaMergeBuilder, "whenNotMatchedInsertAll", ("merge", vary.merged, ())))
    for owner in (LedReader, LedStreamReader, LedWriter, LedStreamWriter):
        watched.append((owner, "option", ("option", vary.option, PASSING)))
    for name, (other, sign, other_sign) in OPERATORS.items():
        watched.append((Column, name, ("operator", vary.operator(name, other, sign, other_sign), ())))
    return watched
