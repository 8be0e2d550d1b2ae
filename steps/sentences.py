"""How a sentence is declared: its scenario comes to it as `stage`, under a fixture name that no project has."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest_bdd
from pytest_bdd import parsers

FIXTURE = "headgate_stage"
Function = Callable[..., None]


def given(sentence: str) -> Callable[[Function], Function]:
    """Something that is there before."""
    return _declared(pytest_bdd.given, sentence)


def when(sentence: str) -> Callable[[Function], Function]:
    """Something that happens."""
    return _declared(pytest_bdd.when, sentence)


def then(sentence: str) -> Callable[[Function], Function]:
    """Something that must have come of it."""
    return _declared(pytest_bdd.then, sentence)


def _declared(declare: Any, sentence: str) -> Callable[[Function], Function]:
    def decorator(function: Function) -> Function:
        # Two frames up is the module that the sentence stands in: pytest-bdd puts the step there.
        declare(parsers.parse(sentence), stacklevel=2)(_with_fixture(function, sentence))
        return function

    return decorator


def _with_fixture(function: Function, sentence: str) -> Function:
    """A value that only some ways to say it name has a default for the others."""

    @wraps(function)
    def play(**values: Any) -> None:
        function(stage=values.pop(FIXTURE), **values)

    known = inspect.signature(function).parameters.values()
    named = [each for each in known if each.default is each.empty or f"{{{each.name}" in sentence]
    needed = [each.replace(name=FIXTURE if each.name == "stage" else each.name, default=each.empty) for each in named]
    play.__signature__ = inspect.Signature(needed)  # type: ignore[attr-defined]
    return play
