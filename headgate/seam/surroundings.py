"""What a program finds around it: its words, its folder on the path, its environment, its output."""

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headgate.seam.current import BATCH_OUTPUT, current

if TYPE_CHECKING:
    from headgate.seam.program import Program


_one_at_a_time = threading.RLock()


@contextmanager
def surroundings(program: "Program") -> Iterator[None]:
    """While a program starts: its words, itself as the main module, its own modules."""
    script, argv, main = program.declared.script, sys.argv, sys.modules["__main__"]
    sys.argv = [str(script), *program.words]
    if not program.declared.is_entry_point:
        sys.modules["__main__"] = _main_module(script)
    importlib.invalidate_caches()
    program.is_starting = True
    try:
        with own_modules(program):
            yield
    finally:
        program.is_starting = False
        sys.modules["__main__"] = main
        sys.argv = argv


@contextmanager
def own_modules(program: "Program") -> Iterator[None]:
    """While a program imports: its folders on the path, its own modules, and none that others have of its names."""
    with _one_at_a_time:
        before, path = _take_out(program), list(sys.path)
        sys.modules.update(program.modules)
        sys.path[:0] = program.import_folders[:1]
        sys.path += program.import_folders[1:]
        try:
            yield
        finally:
            program.modules = _take_out(program)
            sys.modules.update(before)
            sys.path[:] = path


def _take_out(program: "Program") -> dict[str, ModuleType]:
    found = {name: module for name, module in list(sys.modules.items()) if _is_of(program, module)}
    for name in found:
        del sys.modules[name]
    return found


def _main_module(script: Path) -> ModuleType:
    made = ModuleType("__main__")
    made.__dict__.update(__file__=str(script), __builtins__=__builtins__)
    return made


def _is_of(program: "Program", module: ModuleType) -> bool:
    """Whether each start of the program gets the module anew: what pytest has loaded of the project stays apart."""
    name = getattr(module, "__name__", "")
    file = getattr(module, "__file__", None)
    if file is None or name == "__main__" or name.split(".")[0] in ("headgate", "conftest"):
        return False
    return program.is_own_file(file)


class ProgramEnvironment(os._Environ):  # type: ignore[type-arg]
    """`os.environ`: in a program its own variables come before the run's, and what it sets stays with it."""

    def __init__(self, outside: Any) -> None:
        # The same variables, not a copy of them.
        self.__dict__.update(outside.__dict__)

    def __getitem__(self, key: str) -> str:
        program = current()
        if program is None or key not in program.environment:
            return str(super().__getitem__(key))
        value = program.environment[key]
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: str) -> None:
        program = current()
        if program is None:
            super().__setitem__(key, value)
        else:
            program.environment[key] = value

    def __delitem__(self, key: str) -> None:
        program = current()
        if program is None:
            super().__delitem__(key)
        elif key in self:
            program.environment[key] = None
        else:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        program = current()
        own = program.environment if program else {}
        yield from (key for key in super().__iter__() if key not in own)
        yield from (key for key, value in own.items() if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ProgramStream:
    """Standard output or error: a program's own, or what was there before."""

    def __init__(self, outside: Any) -> None:
        self.outside = outside

    def write(self, text: str) -> int:
        """Keep the text with the program that prints it."""
        program = current()
        if program is None:
            return int(self.outside.write(text))
        batch = BATCH_OUTPUT.get()
        if batch is not None:
            batch.write(text)
        return program.output.write(text)

    def isatty(self) -> bool:
        """A program's output is kept, not shown."""
        return False if current() is not None else bool(self.outside.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.outside, name)


def keep_output() -> None:
    """From now on, what programs print is kept with them."""
    for name in ("stdout", "stderr"):
        if not isinstance(getattr(sys, name), ProgramStream):
            setattr(sys, name, ProgramStream(getattr(sys, name)))


def give_output_back() -> None:
    """No program prints any more."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, ProgramStream):
            setattr(sys, name, stream.outside)
