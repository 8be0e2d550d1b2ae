"""Collects feature files that use our sentences, wherever they lie; their tags are markers.

Nothing of Spark, Kafka or our sentences is loaded before there is such a file.
"""

import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pytest_bdd import scenarios
from pytest_bdd.steps import step_function_context_registry

from headgate.project import find_project, is_project

NEEDED = (
    "headgate.tell.reporting",
    "headgate.tell.narration",
    "headgate.tell.led",
    "headgate.gate.mutating",
    "headgate.gate.disturbing",
    "headgate.plugin.fixtures",
    *(f"headgate.steps.{name}" for name in ("times", "topics", "jobs", "batches", "tables", "files", "checkpoints")),
)
STEP = re.compile(r"\s*(?:Given|When|Then|And|But|\*)\s+(?P<sentence>.+?)\s*$")
TAG = re.compile(r"(?<!\S)@(?P<tag>\S+)")


class FeatureFile(pytest.Module):
    """A feature file as a module of tests."""

    def _getobj(self) -> ModuleType:
        for tag in _tags(self.path):
            self.config.addinivalue_line("markers", f"{tag}: scenarios tagged @{tag}")
        module = ModuleType(self.path.stem)
        namespace = module.__dict__
        namespace.update(__file__=str(self.path), _scenarios=scenarios, _path=str(self.path))
        # pytest-bdd puts the tests into the namespace that calls it.
        exec(compile("_scenarios(_path)", str(self.path), "exec"), namespace)
        return module


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Let pytest see feature files: those named on the command line, and those that use our sentences."""
    if file_path.suffix != ".feature":
        return None
    if not is_project(find_project(file_path.parent)):
        return None
    load(parent.config)
    if not parent.session.isinitpath(file_path) and not is_ours(file_path):
        return None
    return FeatureFile.from_parent(parent, path=file_path)


def load(config: pytest.Config) -> None:
    """Bring in what a scenario needs."""
    for name in NEEDED:
        config.pluginmanager.import_plugin(name)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All workers of a parallel run share one Kafka, if they are going to need any."""
    if _has_features(node.config):
        load(node.config)
        from headgate.plugin.fixtures import kafka_of_run

        node.workerinput["kafka"] = kafka_of_run(node.config).result().address


def _has_features(config: pytest.Config) -> bool:
    """A look at the files: the one process that can share a Kafka does not collect."""
    named = [Path(str(argument).partition("::")[0]) for argument in config.args]
    for path in (each if each.is_absolute() else config.invocation_params.dir / each for each in named):
        files = [path] if path.suffix == ".feature" else path.rglob("*.feature") if path.is_dir() else []
        if any(is_project(find_project(file.parent)) for file in files):
            return True
    return False


def is_ours(file: Path) -> bool:
    """Whether the feature uses a sentence of ours: others are left to those who wrote them."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (STEP.fullmatch(line) for line in lines)
    return any(_is_sentence(step["sentence"]) for step in found if step)


@cache
def _is_sentence(text: str) -> bool:
    return any(
        context.parser.is_matching(text)
        for context in step_function_context_registry.values()
        if context.step_func.__module__.startswith("headgate.steps.")
    )


def _tags(file: Path) -> set[str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return {found["tag"] for line in lines if line.lstrip().startswith("@") for found in TAG.finditer(line)}
