"""What became of each mutant, and in which order scenarios are tried on the next one."""

import random
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from headgate.errors import Refusal
from headgate.seam.meaning import Mutant

CAUGHT, SURVIVED, ACCEPTED, CRASHED, HUNG, UNREACHED = "caught", "SURVIVED", "accepted", "crashed", "hung", "unreached"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: which scenario and sentence caught it, or why nothing counts as a catch."""

    mutant: Mutant
    what: str
    scenario: str = ""
    sentence: str = ""
    why: str = ""
    seconds: float = 0.0


@dataclass
class Record:
    """Which scenario meets which mutants, how long it takes, and how many it has caught."""

    noted: dict[str, set[Mutant]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    caught: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By scenario and file."""

    @property
    def mutants(self) -> list[Mutant]:
        """All of them, by file and line."""
        return sorted({mutant for noted in self.noted.values() for mutant in noted})

    def scenarios(self, mutant: Mutant) -> list[str]:
        """Those that meet it, the one that is likely to catch it soon first."""
        meeting = [each for each, noted in self.noted.items() if mutant in noted]
        return sorted(meeting, key=lambda each: (-self._likely(each, mutant.file), self.seconds[each]))

    def catch(self, scenario: str, mutant: Mutant) -> None:
        """The scenario has caught it."""
        self.caught[scenario, mutant.file] += 1

    def _likely(self, scenario: str, file: str) -> float:
        """What has caught others in the same file is likely to catch this one too."""
        catches = self.caught[scenario, file]
        elsewhere = sum(count for (each, _), count in self.caught.items() if each == scenario)
        return (10 * catches + elsewhere) / (1 + self.seconds[scenario])


def part_of(mutants: list[Mutant], share: float, seed: int) -> list[Mutant]:
    """A part of the mutants, the same for the same seed."""
    count = max(1, round(len(mutants) * share)) if mutants else 0
    return sorted(random.Random(seed).sample(mutants, count))


def changed_since(project: Path, revision: str) -> set[str]:
    """The project's files that have changed since then, those that are new included."""
    changed = _git(project, "diff", "--name-only", "--relative", revision, "--")
    return set(changed) | set(_git(project, "ls-files", "--others", "--exclude-standard"))


def _git(project: Path, *words: str) -> list[str]:
    run = subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Refusal(f"git {' '.join(words)} fails in {project}: {' '.join(run.stderr.split())}")
    return run.stdout.splitlines()


def in_files(mutants: Iterable[Mutant], files: set[str]) -> list[Mutant]:
    """Those in one of the files."""
    return [each for each in mutants if each.file in files]
