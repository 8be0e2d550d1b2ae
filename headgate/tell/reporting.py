"""Tells a failing scenario by its feature's file, line and step, not by a Python stack."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_bdd.exceptions import StepDefinitionNotFoundError
from pytest_bdd.parser import Feature, Scenario, Step

from headgate.compare.silence import unmentioned
from headgate.errors import FeatureMistake, StepFailure
from headgate.stage.stage import Stage
from headgate.tell.account import account

STAGE: pytest.StashKey[Stage] = pytest.StashKey()
ACCOUNT: pytest.StashKey[str] = pytest.StashKey()
PLAIN = (StepFailure, FeatureMistake, StepDefinitionNotFoundError)


def pytest_bdd_before_step(request: pytest.FixtureRequest, step: Step, step_func: Callable[..., object]) -> None:
    """Let the stage know which sentence is being played; a project's other features have none."""
    if step_func.__module__.startswith("headgate.steps."):
        request.getfixturevalue("headgate_stage")
    stage = request.node.stash.get(STAGE, None)
    if stage is not None:
        stage.step = step
        _refusal_stands(stage, step)


def pytest_bdd_step_error(request: pytest.FixtureRequest) -> None:
    """What follows a failed step is not looked at."""
    _fail(request)


def pytest_bdd_step_func_lookup_error(request: pytest.FixtureRequest, step: Step) -> None:
    """The same for a sentence that is not in the vocabulary."""
    _fail(request, step)


def _fail(request: pytest.FixtureRequest, step: Step | None = None) -> None:
    stage = request.node.stash.get(STAGE, None)
    if stage is not None:
        stage.failed = True
        stage.step = step or stage.step
        request.node.stash[ACCOUNT] = account(stage)


def pytest_bdd_after_scenario(request: pytest.FixtureRequest, feature: Feature, scenario: Scenario) -> None:  # noqa: ARG001
    """Fail a scenario that leaves output nobody mentioned."""
    stage = request.node.stash.get(STAGE, None)
    if stage is None or stage.failed:
        return
    found = unmentioned(stage)
    if found:
        listed = "\n".join(f"  - {each}" for each in found)
        _fail(request)
        raise StepFailure(f"The scenario ends, and no step has mentioned:\n{listed}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Replace the stack by the step's place and the message."""
    report = yield
    if STAGE not in item.stash and not _is_feature(item):
        return report
    if call.excinfo is not None and isinstance(call.excinfo.value, PLAIN):
        parts = [_place(item), str(call.excinfo.value)]
        if isinstance(call.excinfo.value, StepFailure):
            # What was sent and what came, up to the moment in which it failed.
            parts.insert(1, item.stash.get(ACCOUNT, ""))
        report.longrepr = "\n\n".join(filter(None, parts))  # type: ignore[attr-defined]
    return report


def _is_feature(item: pytest.Item) -> bool:
    return item.path.suffix == ".feature"


def _place(item: pytest.Item) -> str:
    stage = item.stash.get(STAGE, None)
    file = item.path.relative_to(item.config.rootpath) if item.path.is_relative_to(item.config.rootpath) else item.path
    if stage is None or stage.step is None:
        return str(file)
    return f"{file}:{stage.step.line_number}: {stage.step.keyword} {stage.step.name}"


def _refusal_stands(stage: Stage, step: Step) -> None:
    """A refusal must be answered by the very next step."""
    if stage.refused is not None and not step.name.startswith("it is refused"):
        stage.failed = True
        raise StepFailure(f"The step before was refused: {stage.refused}")
