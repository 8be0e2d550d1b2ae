"""Which mutants are played, and which scenario is tried first."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from headgate.errors import Refusal
from headgate.gate.mutants import CAUGHT, SURVIVED, Outcome, Record, changed_since, in_files, part_of
from headgate.gate.table import print_mutants
from headgate.project import equivalents
from headgate.seam.meaning import Mutant

LONGER = Mutant("jobs/a.py", 3, "watermark", "longer", "10 minutes -> 20 minutes")
SHORTER = Mutant("jobs/a.py", 3, "watermark", "shorter", "10 minutes -> 5 minutes")
OTHER = Mutant("jobs/b.py", 7, "trigger", "ignored", "processingTime=2 seconds -> none")


@pytest.fixture
def record() -> Record:
    """Two scenarios that meet the same mutants, a slow one and a quick one."""
    noted = {"slow": {LONGER, SHORTER}, "quick": {LONGER, SHORTER}, "other": {OTHER}}
    return Record(noted, {"slow": 9.0, "quick": 1.0, "other": 1.0})


def test_only_scenarios_that_meet_a_mutant_are_tried_the_quick_one_first(record: Record) -> None:
    assert record.mutants == [LONGER, SHORTER, OTHER]
    assert record.scenarios(LONGER) == ["quick", "slow"]
    assert record.scenarios(OTHER) == ["other"]


def test_what_has_caught_one_is_tried_first_on_the_next(record: Record) -> None:
    record.catch("slow", LONGER)
    assert record.scenarios(SHORTER) == ["slow", "quick"]


def test_a_seed_chooses_the_same_part() -> None:
    mutants = [Mutant("a.py", line, "limit", "gone", "1 -> all rows") for line in range(50)]
    assert len(part_of(mutants, 0.1, 7)) == 5
    assert part_of(mutants, 0.1, 7) == part_of(mutants, 0.1, 7) != part_of(mutants, 0.1, 8)


def test_files_that_changed_since_a_revision(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=tmp_path, check=True)

    (tmp_path / "same.py").write_text("")
    (tmp_path / "changed.py").write_text("")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    (tmp_path / "changed.py").write_text("1\n")
    (tmp_path / "fresh.py").write_text("")
    assert changed_since(tmp_path, "HEAD") == {"changed.py", "fresh.py"}
    assert in_files([Mutant("same.py", 1, "", "", ""), Mutant("fresh.py", 1, "", "", "")], {"fresh.py"})
    with pytest.raises(Refusal, match="no-such-revision"):
        changed_since(tmp_path, "no-such-revision")


def test_the_table_names_place_change_scenario_and_sentence() -> None:
    out = StringIO()
    caught = Outcome(LONGER, CAUGHT, "a.feature: Late", "Then batch 2 is:", "batch 2 is not what the feature says")
    print_mutants(Console(file=out, width=200), [caught, Outcome(OTHER, SURVIVED)])
    printed = out.getvalue()
    for part in (
        "jobs/a.py:3",
        "10 minutes -> 20 minutes",
        "caught by a.feature: Late",
        "Then batch 2 is:",
        "SURVIVED",
    ):
        assert part in printed
    assert "2 mutants: 1 caught, 1 survived" in printed


def test_equivalents_have_a_reason(tmp_path: Path) -> None:
    assert equivalents(tmp_path) == {}
    (tmp_path / "pyproject.toml").write_text('[tool.headgate.equivalent]\n"a.py:1 limit gone" = "there is one row"\n')
    assert equivalents(tmp_path) == {"a.py:1 limit gone": "there is one row"}
