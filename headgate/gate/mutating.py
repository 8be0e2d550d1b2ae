"""`--mutate`: the scenarios once as they are, then against programs that are wrong in one place."""

import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.terminal import TerminalReporter
from pytest_bdd.parser import Scenario
from rich.console import Console

from headgate.errors import Refusal, StepFailure
from headgate.gate.mutants import (
    ACCEPTED,
    CAUGHT,
    CRASHED,
    HUNG,
    SURVIVED,
    UNREACHED,
    Outcome,
    Record,
    changed_since,
    in_files,
    part_of,
)
from headgate.gate.table import print_mutants, write_report
from headgate.plugin.collection import FeatureFile
from headgate.project import equivalents, find_project
from headgate.seam.meaning import Mutant, Watch, watching
from headgate.stage.stage import Stage
from headgate.stage.staged_program import StagedProgram
from headgate.tell.reporting import STAGE

# A mutant may never come to what a step waits for.
MUTANT_PATIENCE = 20.0
# One crash may be the scenario's; two are the mutant's.
MOST_CRASHES = 2
TABLE_WIDTH = 160
ACCOUNT = ("Events sent so far", "Batches of the ")
ABOUT_FAILURES = re.compile(r"^it is refused with| has failed with ")


def pytest_configure(config: pytest.Config) -> None:
    """Take over the run where asked to."""
    if not config.option.mutate:
        return
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--mutate plays one scenario after the other, in one Spark: leave out -n.")
    config.pluginmanager.register(Gate(config), "headgate gate")


class Gate:
    """Plays the scenarios, then the mutants."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._watch = Watch()
        self._record = Record()
        self._items: dict[str, pytest.Item] = {}
        self._outcomes: list[Outcome] = []
        self._files: set[str] | None = None
        self._failure: BaseException | None = None
        self._stage: Stage | None = None
        self._crash = False
        self._scenario = ""
        seed = config.option.mutate_seed
        self._seed: int = random.randrange(10_000) if seed is None else seed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """First as they are, then wrong in one place, all in one Spark."""
        if session.config.option.collectonly or session.testsfailed:
            return None
        self._files = self._changed(session)
        with watching(self._watch):
            self._play_as_they_are(session)
            if session.testsfailed:
                self._say("a scenario fails already without a mutant: none was played")
            else:
                self._play_mutants(session)
        return True

    def _play_as_they_are(self, session: pytest.Session) -> None:
        for item in session.items:
            self._watch.noted = set()
            started = time.monotonic()
            # What is kept for the run must outlive its last scenario.
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=session)
            if isinstance(item.parent, FeatureFile) and self._watch.noted:
                self._items[item.nodeid] = item
                self._record.noted[item.nodeid] = self._watch.noted
                self._record.seconds[item.nodeid] = time.monotonic() - started
            if session.shouldfail or session.shouldstop:
                raise session.Failed(session.shouldfail or session.shouldstop)

    def _play_mutants(self, session: pytest.Session) -> None:
        chosen = self._chosen()
        total = len(self._record.mutants)
        self._say(f"{total} mutants, {len(chosen)} to play, seed {self._seed}")
        for name in equivalents(self._project).keys() - set(map(str, self._record.mutants)):
            self._say(f"[tool.headgate.equivalent] accepts what none of these scenarios meets: {name}")
        patience = self._config.option.patience
        self._config.option.patience = min(patience, MUTANT_PATIENCE)
        try:
            for number, mutant in enumerate(chosen, 1):
                outcome = self._judged(session, mutant)
                self._outcomes.append(outcome)
                self._say(f"[{number}/{len(chosen)}] {outcome.what} {mutant} ({outcome.seconds:.0f} s)")
        finally:
            self._config.option.patience = patience

    def _changed(self, session: pytest.Session) -> set[str] | None:
        since = self._config.option.mutate_since
        if not since or not session.items:
            return None
        try:
            return changed_since(find_project(session.items[0].path.parent), since)
        except Refusal as refusal:
            raise pytest.UsageError(str(refusal)) from None

    def _chosen(self) -> list[Mutant]:
        mutants, share = self._record.mutants, self._config.option.mutate_share
        if self._files is not None:
            mutants = in_files(mutants, self._files)
        return mutants if share >= 1 else part_of(mutants, share, self._seed)

    @property
    def _project(self) -> Path:
        return find_project(next(iter(self._items.values())).path.parent)

    # One mutant.

    def _judged(self, session: pytest.Session, mutant: Mutant) -> Outcome:
        reason = equivalents(self._project).get(str(mutant))
        if reason:
            return Outcome(mutant, ACCEPTED, why=reason)
        started = time.monotonic()
        found = self._played(session, mutant)
        return replace(found, seconds=time.monotonic() - started)

    def _played(self, session: pytest.Session, mutant: Mutant) -> Outcome:
        """The first scenario that catches it by an assertion; or else what it came to."""
        crashes: list[Outcome] = []
        lived = False
        for name in self._record.scenarios(mutant):
            outcome = self._play(session, mutant, name)
            if outcome.what == CAUGHT:
                self._record.catch(name, mutant)
                return outcome
            if outcome.what in (CRASHED, HUNG):
                crashes.append(outcome)
            lived = lived or outcome.what == SURVIVED
            if len(crashes) == MOST_CRASHES and not lived:
                break
        if crashes:
            return crashes[0]
        return Outcome(mutant, SURVIVED if lived else UNREACHED)

    def _play(self, session: pytest.Session, mutant: Mutant, name: str) -> Outcome:
        item = self._items[name]
        self._failure, self._stage = None, None
        self._watch.playing, self._watch.hits = mutant, 0
        try:
            reports = runtestprotocol(item, log=False, nextitem=session)  # type: ignore[arg-type]
        finally:
            self._watch.playing = None
        shutil.rmtree(getattr(self._stage, "folder", ""), ignore_errors=True)
        if not self._watch.hits:
            return Outcome(mutant, UNREACHED)
        if all(report.passed for report in reports):
            return Outcome(mutant, SURVIVED)
        return self._caught(mutant, item)

    def _caught(self, mutant: Mutant, item: pytest.Item) -> Outcome:
        step = self._stage.step if self._stage else None
        sentence = f"{step.keyword} {step.name}" if step else ""
        return Outcome(
            mutant, self._kind, f"{item.path.name}: {self._scenario}", sentence, _message(str(self._failure))
        )

    @property
    def _kind(self) -> str:
        """Whether the failure is an assertion of a sentence, or the program's own."""
        if not isinstance(self._failure, StepFailure) or self._crash:
            return CRASHED
        return HUNG if "--patience allows more" in str(self._failure) else CAUGHT

    def pytest_bdd_before_scenario(self, scenario: Scenario) -> None:
        """Know its name."""
        self._scenario = scenario.name

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
        """Keep what has failed: a report has only its text."""
        report = yield
        if self._watch.playing is not None and call.when == "call":
            self._stage = item.stash.get(STAGE, None)
            self._failure = call.excinfo.value if call.excinfo else None
            self._crash = self._failure is not None and _has_crashed(self._stage)
        return report

    # What people read.

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """The table."""
        if not self._outcomes:
            return
        terminalreporter.section("mutants")
        width = None if terminalreporter.isatty else TABLE_WIDTH
        print_mutants(Console(file=terminalreporter._tw._file, width=width, highlight=False), self._outcomes)
        file = self._config.option.mutate_report
        if file:
            write_report(Path(file), self._outcomes, self._seed)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A mutant that survives fails the run."""
        if any(each.what == SURVIVED for each in self._outcomes):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _say(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)
            reporter.flush()


def _has_crashed(stage: Stage | None) -> bool:
    """Whether a program has failed, or refused, and the sentence that fails is not about that."""
    if stage is None or (stage.step is not None and ABOUT_FAILURES.search(stage.step.name)):
        return False
    return stage.refused is not None or any(map(_has_failed, stage.jobs.values()))


def _has_failed(staged: StagedProgram) -> bool:
    return bool(staged.unmentioned_failures()) or bool(staged.program and staged.program.exit_code)


def _message(failure: str) -> str:
    """The sentence that follows the account."""
    blocks = [block for block in failure.split("\n\n") if not block.startswith(ACCOUNT)]
    first = next((line.strip() for block in blocks for line in block.splitlines() if line.strip()), "")
    return first.partition(" (left: ")[0]
