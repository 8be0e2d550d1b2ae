"""`--disturb`: the scenarios as they stand, while something happens to the running programs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter
from pytest_bdd.parser import Feature, Scenario
from rich.console import Console
from rich.table import Table

from headgate.errors import StepFailure
from headgate.gate.disturbances import Seen, replay, restart
from headgate.stage.stage import Stage
from headgate.tell.reporting import STAGE

DISTURBANCES = {"restart": restart, "replay": replay}
EXACTLY_ONCE = "exactly_once"
UNDISTURBED = "undisturbed"
PROPERTY = "headgate disturbed"
TABLE_WIDTH = 120


def pytest_configure(config: pytest.Config) -> None:
    """Disturb where asked to."""
    config.addinivalue_line("markers", f"{EXACTLY_ONCE}: nothing is there twice after a replay")
    if config.option.disturb:
        config.pluginmanager.register(Disturber(config.option.disturb), "headgate disturber")


class Disturber:
    """Disturbs each scenario, and counts what came of it."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._seen = Seen()
        self._scenario = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave those alone that say why they cannot be meant."""
        for item in items:
            for mark in item.iter_markers():
                name, _, reason = mark.name.partition("-")
                if name in (UNDISTURBED, f"{UNDISTURBED}_by_{self._kind}"):
                    told = reason.replace("-", " ") or "it says so"
                    item.add_marker(pytest.mark.skip(reason=f"not disturbed: {told}"))

    def pytest_bdd_before_scenario(self, scenario: Scenario) -> None:
        """A new account."""
        self._scenario, self._seen = scenario.name, Seen()

    @pytest.hookimpl(trylast=True)
    def pytest_bdd_before_step(self, request: pytest.FixtureRequest) -> None:
        """Be there when the scenario sends."""
        stage = request.node.stash.get(STAGE, None)
        if stage is not None:
            stage.disturb = self._disturb

    def _disturb(self, stage: Stage) -> None:
        DISTURBANCES[self._kind](stage, self._seen)

    @pytest.hookimpl(trylast=True)
    def pytest_bdd_after_scenario(self, feature: Feature, scenario: Scenario) -> None:
        """What a scenario has promised."""
        if EXACTLY_ONCE in scenario.tags | feature.tags and self._seen.doubled:
            raise StepFailure(
                f"the scenario promises @{EXACTLY_ONCE}, and after a replay there is something twice in "
                f"{', '.join(self._seen.doubled)}"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
        """Keep the account with the report, which comes through when scenarios are played beside each other."""
        report = yield
        if call.when == "call" and STAGE in item.stash:
            told = [f"{item.path.name}: {self._scenario}", asdict(self._seen)]
            report.user_properties = [*item.user_properties, (PROPERTY, told)]  # type: ignore[attr-defined]
        return report

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """What was disturbed, and what is there twice."""
        reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
        told = [dict(each.user_properties)[PROPERTY] for each in reports if PROPERTY in dict(each.user_properties)]
        terminalreporter.section(f"disturbed: {self._kind}")
        width = None if terminalreporter.isatty else TABLE_WIDTH
        print_disturbed(Console(file=terminalreporter._tw._file, width=width, highlight=False), told)


def print_disturbed(console: Console, told: list[tuple[str, dict[str, Any]]]) -> None:
    """A row for each scenario that was disturbed, and one for each topic and table that was written to again."""
    disturbed = [(name, about) for name, about in told if about["restarts"]]
    scenarios = _table("scenario", "restarts", "batches again")
    for name, about in disturbed:
        scenarios.add_row(name, str(about["restarts"]), str(about["replays"]))
    console.print(scenarios)
    console.print(f"{len(disturbed)} scenarios disturbed, {len(told) - len(disturbed)} with nothing running to disturb")
    sinks: dict[str, Counter[str]] = {}
    for _, about in disturbed:
        for name, doubles in about["sinks"].items():
            sinks.setdefault(name, Counter()).update(doubles)
    if sinks:
        doubled = _table("sink", "replays", "there twice", "so it is")
        for name, count in sorted(sinks.items()):
            kind = "at least once" if count["doubled"] else "nothing twice"
            doubled.add_row(name, str(count["replays"]), str(count["doubled"]), kind)
        console.print(doubled)


def _table(*headings: str) -> Table:
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
