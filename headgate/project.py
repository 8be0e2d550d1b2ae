"""The project that is under the gate: which programs it declares in pyproject.toml, under which spoken names."""

import importlib.util
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.errors import Refusal

KNOWN = {"run", "words", "environment", "settings"}


@dataclass(frozen=True)
class Declared:
    """A program with its spoken name."""

    name: str
    run: str
    project: Path
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_entry_point(self) -> bool:
        """Whether it is a function of a module, and not a script."""
        return ":" in self.run and not self.run.endswith(".py")

    @property
    def script(self) -> Path:
        """The script, or the file of the entry point's module."""
        if not self.is_entry_point:
            return self.project / self.run
        relative = self.run.partition(":")[0].replace(".", "/")
        for base in (self.project, self.project / "src"):
            for candidate in (base / f"{relative}.py", base / relative / "__init__.py"):
                if candidate.is_file():
                    return candidate
        return _installed(self.run.partition(":")[0]) or self.project / f"{relative}.py"

    def check(self) -> None:
        """Refuse a program that is not there or does not compile."""
        file = self.script
        if not file.is_file():
            raise Refusal(
                f"The {self.name} is declared as {self.run}, and there is no file {file}: correct [tool.headgate.jobs]"
                f" in {self.project / 'pyproject.toml'}."
            )
        try:
            compile(file.read_bytes(), str(file), "exec")
        except (SyntaxError, ValueError) as error:
            where = f"{file}:{getattr(error, 'lineno', None) or 1}"
            raise Refusal(f"The {self.name} does not compile: {where}: {getattr(error, 'msg', error)}.") from None


def find_project(start: Path) -> Path:
    """The nearest folder, from here upward, whose pyproject.toml declares jobs; or else where we are."""
    for folder in (start, *start.parents):
        if is_project(folder):
            return folder
    return start


def is_project(folder: Path) -> bool:
    """Whether the folder's pyproject.toml has a table for us."""
    file = folder / "pyproject.toml"
    return file.is_file() and "headgate" in _tools(file)


def declared_jobs(project: Path) -> dict[str, Declared]:
    """The programs of [tool.headgate.jobs], by name."""
    file = project / "pyproject.toml"
    jobs = _tools(file).get("headgate", {}).get("jobs", {}) if file.is_file() else {}
    return {name: _declared(name, value, project) for name, value in jobs.items()}


def equivalents(project: Path) -> dict[str, str]:
    """The mutants of [tool.headgate.equivalent] that may survive, by name, with the reason."""
    file = project / "pyproject.toml"
    named = _tools(file).get("headgate", {}).get("equivalent", {}) if file.is_file() else {}
    return {str(name): str(reason) for name, reason in named.items()}


def find_job(project: Path, spoken: str) -> Declared:
    """The program that a sentence or a command names; dashes count as spaces."""
    jobs = declared_jobs(project)
    by_plain = {_plain(name): job for name, job in jobs.items()}
    if _plain(spoken) not in by_plain:
        known = ", ".join(jobs) or "none: declare yours in pyproject.toml, under [tool.headgate.jobs]"
        raise Refusal(f"there is no job '{spoken}'; there are: {known}")
    return by_plain[_plain(spoken)]


def _declared(name: str, value: Any, project: Path) -> Declared:
    if isinstance(value, str):
        return Declared(name, value, project)
    if not isinstance(value, dict) or not isinstance(value.get("run"), str) or value.keys() - KNOWN:
        raise Refusal(
            f"[tool.headgate.jobs] in {project / 'pyproject.toml'} declares '{name}' wrongly: give a path, "
            "package.module:function, or a table with run and, if need be, words, environment and settings."
        )
    words = value.get("words", [])
    return Declared(
        name,
        value["run"],
        project,
        tuple(split_words(words) if isinstance(words, str) else map(str, words)),
        {key: str(each) for key, each in value.get("environment", {}).items()},
        {key: str(each) for key, each in value.get("settings", {}).items()},
    )


def split_words(words: str) -> list[str]:
    """Words as a shell splits them; a placeholder such as {topic visits} is one."""
    kept = shlex.split(words.replace("{topic ", "{topic\0").replace("{table ", "{table\0"))
    return [word.replace("\0", " ") for word in kept]


def _tools(file: Path) -> dict[str, Any]:
    try:
        tools: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{file} cannot be read: {error}.") from None
    return tools


def _installed(module: str) -> Path | None:
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found and found.origin else None


def _plain(name: str) -> str:
    return " ".join(name.replace("-", " ").replace("_", " ").split()).lower()
