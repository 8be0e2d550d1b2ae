"""Tells a scenario as it is played: every event, every batch as a table, the watermark as it moves."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from pytest_bdd.parser import Feature, Scenario, Step
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from headgate.seam.sinks import SeenBatch
from headgate.stage.stage import Stage
from headgate.stage.staged_program import StagedProgram
from headgate.tell.reporting import STAGE


def pytest_configure(config: pytest.Config) -> None:
    """Narrate where asked to."""
    if config.option.narrate:
        config.pluginmanager.register(Narrator(Console(highlight=False)), "narrator")


class Narrator:
    """Prints what is new after each step."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told: dict[str, int] = {}
        self._watermarks: dict[str, datetime | None] = {}

    def pytest_bdd_before_scenario(self, feature: Feature, scenario: Scenario) -> None:
        """The title."""
        self._told.clear()
        self._watermarks.clear()
        self._console.print()
        self._console.print(Panel(f"[bold]{feature.name}[/bold]\n{scenario.name}", expand=False))

    def pytest_bdd_before_step(self, step: Step) -> None:
        """The sentence."""
        self._console.print(Text.assemble((f"{step.keyword.strip():>5} ", "bold cyan"), step.name))

    def pytest_bdd_after_step(self, request: pytest.FixtureRequest) -> None:
        """What the sentence has brought about."""
        stage = request.node.stash.get(STAGE, None)
        if stage is None:
            return
        for topic in stage.topics.values():
            for sent in self._fresh(f"sent {topic.name}", topic.sent):
                value = "null" if sent.event.value is None else sent.event.value.decode(errors="replace")
                self._tell(f"-> {topic.name}  {value}", "yellow")
            for message in self._fresh(f"seen {topic.name}", topic.seen):
                self._tell(f"<- {topic.name}  {(message.value() or b'null').decode(errors='replace')}", "green")
        for staged in stage.jobs.values():
            for batch in self._fresh(f"batches {staged.name}", staged.seen()):
                self._console.print(_batch_table(stage, staged, batch))
            self._tell_watermark(stage, staged)

    def _tell_watermark(self, stage: Stage, staged: StagedProgram) -> None:
        for report in self._fresh(f"progress {staged.name}", staged.progress()):
            if report.watermark != self._watermarks.get(staged.name):
                self._watermarks[staged.name] = report.watermark
                self._tell(f"~~ watermark of the {staged.name}: {stage.clock(report.watermark)}", "magenta")
            if report.rows_dropped:
                self._tell(f"xx the {staged.name} dropped {report.rows_dropped} rows in batch {report.batch}", "red")

    def _tell(self, line: str, style: str) -> None:
        self._console.print(Text(f"      {line}", style=style), soft_wrap=True)

    def _fresh(self, what: str, things: list) -> Iterator:  # type: ignore[type-arg]
        told = self._told.get(what, 0)
        self._told[what] = len(things)
        return iter(things[told:])


def _batch_table(stage: Stage, staged: StagedProgram, batch: SeenBatch) -> Table | Text:
    title = f"batch {batch.number} of the {staged.name}"
    if not batch.rows.num_rows:
        return Text(f"      == {title}: empty", style="green")
    table = Table(title=title, title_justify="left", title_style="green")
    for name in batch.rows.column_names:
        table.add_column(name)
    for row in batch.rows.to_pylist():
        table.add_row(*[stage.shown(value) for value in row.values()])
    return table
