"""The table of mutants, for people and as JSON."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.gate.mutants import ACCEPTED, CAUGHT, CRASHED, HUNG, SURVIVED, UNREACHED, Outcome

STYLES = {CAUGHT: "green", SURVIVED: "bold red", ACCEPTED: "yellow", CRASHED: "dim", HUNG: "dim", UNREACHED: "dim"}
KINDS = tuple(STYLES)


def print_mutants(console: Console, outcomes: list[Outcome]) -> None:
    """A row for each mutant."""
    table = Table(title="Mutants", title_justify="left", show_lines=True)
    for heading in ("wrong in", "changed", "what came of it"):
        table.add_column(heading, overflow="fold")
    for each in outcomes:
        table.add_row(*map(Text, _wrong(each)), Text.assemble((each.what, STYLES[each.what]), _how(each)))
    console.print(table)
    console.print(counted(outcomes))


def _wrong(outcome: Outcome) -> tuple[str, str]:
    mutant = outcome.mutant
    return f"{mutant.file}:{mutant.line}\n{mutant.call} {mutant.name}", mutant.shown


def _how(outcome: Outcome) -> str:
    by = f" by {outcome.scenario}" if outcome.scenario else ""
    return "\n".join(part for part in (by, outcome.sentence, outcome.why) if part)


def counted(outcomes: list[Outcome]) -> str:
    """How many there were of each kind."""
    count = Counter(each.what for each in outcomes)
    kinds = ", ".join(f"{count[kind]} {kind.lower()}" for kind in KINDS if count[kind])
    return f"{len(outcomes)} mutants: {kinds or 'none'}"


def write_report(file: Path, outcomes: list[Outcome], seed: int) -> None:
    """The same as JSON."""
    mutants = [{**asdict(each.mutant), "mutant": str(each.mutant), **_plain(each)} for each in outcomes]
    told = {"seed": seed, "summary": counted(outcomes), "mutants": mutants}
    file.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _plain(outcome: Outcome) -> dict[str, object]:
    told = asdict(outcome)
    del told["mutant"]
    told["seconds"] = round(outcome.seconds, 1)
    return told
