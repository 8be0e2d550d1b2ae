"""State functions that are wrong in one place: on Spark's workers their handles do something else at one line."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql.streaming import StatefulProcessor

from headgate.seam.changed_code import CodeChange, code_changes

MINUTE_MS = 60_000
LEFT_OUT = "left out"
CLEARED = "cleared instead"
LATER = "a minute later"
EARLIER = "a minute earlier"
NOTHING = {"update", "clear", "remove", "put", "appendValue", "appendList", "updateValue", "removeKey"}
NOTHING |= {"registerTimer", "deleteTimer", "setTimeoutTimestamp", "setTimeoutDuration"}
MOVED = {"registerTimer", "setTimeoutTimestamp", "setTimeoutDuration"}


@dataclass(frozen=True)
class StateChange:
    """A call of a state function, by its lines, and what happens instead."""

    file: str
    first: int
    last: int
    method: str
    how: str

    def is_here(self) -> bool:
        """Whether the code that calls the caller of this is the changed place."""
        frame = sys._getframe(2)
        return frame.f_code.co_filename == self.file and self.first <= frame.f_lineno <= self.last

    def play(self, state: Any, original: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What happens instead."""
        if self.how == CLEARED:
            return state.clear() if hasattr(state, "clear") else state.remove()
        if self.how in (LATER, EARLIER):
            time, *more = arguments
            return original(time + (MINUTE_MS if self.how == LATER else -MINUTE_MS), *more)
        return None


class Changed:
    """A handle, a state, or a group's state, that is wrong in one place."""

    def __init__(self, original: Any, change: StateChange) -> None:
        self._original = original
        self._change = change

    def __getattr__(self, name: str) -> Any:
        found, change = getattr(self._original, name), self._change
        if name.startswith("get") and name.endswith("State"):
            return lambda *arguments, **named: Changed(found(*arguments, **named), change)
        if name != change.method:
            return found

        def call(*arguments: Any) -> Any:
            return change.play(self._original, found, arguments) if change.is_here() else found(*arguments)

        return call


class ChangedProcessor(StatefulProcessor):  # type: ignore[misc]
    """A processor whose handle is wrong in one place."""

    def __init__(self, processor: StatefulProcessor, change: StateChange) -> None:
        self._processor = processor
        self._change = change

    def init(self, handle: Any) -> None:
        self._processor.init(Changed(handle, self._change))

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
        return self._processor.handleInputRows(key, rows, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        return self._processor.handleExpiredTimer(key, timerValues, expiredTimerInfo)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> Any:
        return self._processor.handleInitialState(key, initialState, timerValues)

    def close(self) -> None:
        self._processor.close()


def changed_function(function: Any, change: StateChange) -> Any:
    """A function of `applyInPandasWithState` whose state is wrong in one place."""

    def changed(key: Any, frames: Any, state: Any) -> Any:
        return function(key, frames, Changed(state, change))

    return changed


def state_changes(code: Any) -> Iterator[StateChange | CodeChange]:
    """What can be wrong in a processor or a state function, found by reading its source."""
    for function, tree, node in _sources(code):
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in NOTHING:
                yield from _changes(function.__code__.co_filename, each, each.func.attr)
        # Its __init__ has run by now.
        if node.name != "__init__":
            yield from code_changes(function, tree, node)


def _changes(file: str, node: ast.Call, method: str) -> Iterator[StateChange]:
    hows = [LEFT_OUT, *([LATER, EARLIER] if method in MOVED else []), *([CLEARED] if method == "update" else [])]
    for how in hows:
        yield StateChange(file, node.lineno, node.end_lineno or node.lineno, method, how)


def _sources(code: Any) -> Iterator[tuple[Any, ast.Module, ast.FunctionDef]]:
    """The functions that belong to it, as they stand in its file."""
    is_function = inspect.isfunction(code)
    functions = [code] if is_function else [each for _, each in inspect.getmembers(type(code), inspect.isfunction)]
    for each in functions:
        file = Path(each.__code__.co_filename)
        if not file.is_file() or set(file.parts) & {"site-packages", "dist-packages"}:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == each.__name__ and _begins(node, each):
                yield each, tree, node


def _begins(node: ast.FunctionDef, function: Any) -> bool:
    lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
    return function.__code__.co_firstlineno in lines
