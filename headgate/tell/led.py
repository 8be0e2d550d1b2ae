"""Shows, at the end of a run with --show-led, what the programs of each scenario named and where that led."""

from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from headgate.tell.reporting import STAGE

PROPERTY = "headgate led"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Keep it with the report, which comes through when scenarios are played beside each other."""
    report = yield
    stage = item.stash.get(STAGE, None)
    if stage is not None and call.when == "call" and item.config.option.show_led:
        led = [[named, stage.world.shown(where)] for named, where in sorted(stage.world.led.items())]
        report.user_properties = [*item.user_properties, (PROPERTY, led)]  # type: ignore[attr-defined]
    return report


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """A line for each topic, place and trigger."""
    if not config.option.show_led:
        return
    terminalreporter.section("what programs were led to")
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        led = dict(report.user_properties).get(PROPERTY)
        if led:
            terminalreporter.write_line(report.nodeid)
            for named, where in led:
                terminalreporter.write_line(f"  {named}  ->  {where}")
