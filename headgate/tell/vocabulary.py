"""Writes the page of all sentences: `python -m headgate.tell.vocabulary > docs/vocabulary.md`."""

import inspect
import re
from importlib import import_module
from types import ModuleType

from pytest_bdd.steps import step_function_context_registry

MODULES = ("times", "topics", "jobs", "batches", "tables", "files", "checkpoints")
HEADING = """\
# The vocabulary

Every sentence that a feature can use, as `python -m headgate.tell.vocabulary` prints them. `{…}` is what the sentence
is about. A job is called by its name with spaces: `early-writer` is "the early writer".

In a table, types count: `1` is a whole number, `1.0` a number with a point, `true` a boolean, and text that looks like
one of these is written in quotes, `"1"`. A heading may say its column's type, as in `count:bigint`, or that it does not
matter, as in `count:any`. `null` is null, `07:00` is a time of the feature's day, `07:00 to 07:10` a window; other
structs, lists and maps are JSON. A column `why` under events is for the reader alone.
"""


def page() -> str:
    """The whole page."""
    return HEADING + "".join(_section(import_module(f"headgate.steps.{name}")) for name in MODULES)


def _section(module: ModuleType) -> str:
    sentences: dict[str, tuple[str, list[str]]] = {}
    for context in step_function_context_registry.values():
        function = context.step_func
        if function.__module__ == module.__name__:
            spoken = f"{(context.type or 'step').capitalize()} {_plain(context.parser.name)}"
            sentences.setdefault(function.__name__, (inspect.getdoc(function) or "", []))[1].append(spoken)
    lines = [f"\n## {module.__name__.removeprefix('headgate.steps.').capitalize()}\n\n{inspect.getdoc(module)}\n"]
    for explained, ways in sentences.values():
        lines.append("\n" + "".join(f"- `{each}`\n" for each in reversed(ways)))
        lines.append("\n  " + explained.replace("\n", "\n  ").replace("\n  \n", "\n\n") + "\n")
    return "".join(lines)


def _plain(pattern: str) -> str:
    return re.sub(r"{(\w+):\w+}", r"{\1}", pattern)


if __name__ == "__main__":
    print(page(), end="")
