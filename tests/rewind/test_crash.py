"""Killed at any moment, a rewind can be finished, and it can be undone."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from headgate.rewind.checkpoint import BACKUPS

from .queries import Checkpoints
from .tools import apply, link_tree, refused, rewind, tree

HERE = Path(__file__).parent

MATRIX = [
    pytest.param("hdfs-delta", ["--to-batch", "2"], id="stateful"),
    pytest.param("format-2-zip", ["--to-batch", "2", "--prune"], id="format-2-pruned"),
    pytest.param("join", ["--to-batch", "3"], id="four-stores"),
    pytest.param("stateless", ["--to-batch", "2"], id="stateless"),
    pytest.param("rocksdb-changelog", ["--to-batch", "0"], id="to-zero"),
    pytest.param("stateless", ["--to-batch", "1", "--new-query-id"], id="new-query-id"),
]


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill, other than a power cut, loses nothing that was written."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """In memory where there is such a place: thousands of small files come and go here."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def killing(*words: object) -> None:
    """In a process of its own, without threads: it forks."""
    program = [sys.executable, "-m", f"{HERE.name}.killing", *map(str, words)]
    subprocess.run(program, check=True, cwd=HERE.parent, env=_environment(), timeout=300)


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(HERE.parent.parent), "PATH": ""}


def short(checkpoints: Checkpoints, case: str, folder: Path) -> Path:
    """The checkpoint as it was after four batches: as good as a long one, and sooner killed everywhere."""
    checkpoint = done(checkpoints.copy(case, folder), "--to-batch", "4", "--apply", "--prune")
    shutil.rmtree(checkpoint / BACKUPS)
    return checkpoint


def moments(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir(), key=lambda path: int(path.name))
    assert len(found) > 10
    return found


def without_id(files: dict[str, bytes], words: list[str]) -> dict[str, bytes]:
    """A new query id is different each time."""
    return {path: content for path, content in files.items() if "--new-query-id" not in words or path != "metadata"}


def done(checkpoint: Path, *words: str) -> Path:
    answer = rewind(checkpoint, *words, "--job-is-stopped")
    assert answer.code == 0, answer.error
    return checkpoint


@pytest.mark.parametrize(("case", "words"), MATRIX)
def test_killed_rewind_is_finished_or_undone(
    case: str, words: list[str], checkpoints: Checkpoints, scratch: Path
) -> None:
    made = short(checkpoints, case, scratch / "made")
    original = tree(made)
    rewound = without_id(tree(done(link_tree(made, scratch / "whole"), *words, "--apply")), words)
    killing(made, scratch / "killed", *words, "--apply")

    link_tree(scratch / "killed", scratch / "twice")
    killing("again", scratch / "twice", *words, "--apply")
    *killed, last = moments(scratch / "killed")
    assert without_id(tree(last), words) == rewound
    for number, moment in enumerate(killed):
        # Before the journal is in place nothing has been done, and there is nothing to undo.
        untouched = not (any(moment.glob(".headgate-rewind/*/journal.json*")) and number > 2)
        copy = link_tree(moment, scratch / f"finish-{number}")
        assert without_id(tree(done(copy, *words, "--apply")), words) == rewound, moment
        if untouched:
            assert tree(moment) == original
        else:
            assert tree(done(moment, "--undo")) == original, moment
    for moment in moments(scratch / "twice")[4:]:
        assert tree(done(moment, "--undo")) == original, moment


@pytest.mark.parametrize(("case", "words"), MATRIX)
def test_killed_undo_is_finished(case: str, words: list[str], checkpoints: Checkpoints, scratch: Path) -> None:
    applied = short(checkpoints, case, scratch / "applied")
    original = tree(applied)
    done(applied, *words, "--apply")
    rewound = tree(applied)
    killing(applied, scratch / "killed", "--undo")

    *killed, last = moments(scratch / "killed")
    assert tree(last) == original
    for moment in killed:
        if tree(moment) not in (original, rewound):
            assert "undoing the rewind" in refused(rewind(moment, "--to-batch", 1, "--apply", "--job-is-stopped"))
        answer = rewind(moment, "--undo", "--job-is-stopped")
        assert answer.code == 0 or "no such rewind" in answer.error, answer.error
        assert tree(moment) == original, moment


@pytest.mark.parametrize("case", ["rocksdb-zip", "stateless"])
def test_job_restarted_by_accident_on_half_a_rewind_loses_nothing(
    case: str, checkpoints: Checkpoints, scratch: Path
) -> None:
    made = checkpoints.made(case)
    expected = {batch: rows for batch, rows in made.output.items() if batch >= 3}
    rewound = tree(done(checkpoints.copy(case, scratch / "whole"), "--to-batch", "3", "--apply"))
    killing(checkpoints.copy(case, scratch / "made"), scratch / "killed", "--to-batch", "3", "--apply")
    half = [moment for moment in moments(scratch / "killed") if not (moment / "metadata").exists()]
    for moment in (half[0], half[len(half) // 2], half[-1]):
        with pytest.raises(PySparkException, match="metadata file is missing"):
            made.run(moment)
        assert tree(done(moment, "--to-batch", "3", "--apply")) == rewound
    assert made.run(half[-1]) == expected


def test_job_that_ran_before_the_last_file_moved_ran_rightly(checkpoints: Checkpoints, scratch: Path) -> None:
    made = checkpoints.made("rocksdb-zip")
    killing(checkpoints.copy("rocksdb-zip", scratch / "made"), scratch / "killed", "--to-batch", "3", "--apply")
    late = [
        moment
        for moment in moments(scratch / "killed")
        if (moment / "metadata").exists()
        and (moment / "offsets" / "3").exists()
        and not (moment / "commits/3").exists()
    ]
    assert late
    assert made.run(late[-1]) == {batch: rows for batch, rows in made.output.items() if batch >= 3}
    finished = rewind(late[-1], "--to-batch", 3, "--apply", "--job-is-stopped")
    assert finished.code == 1
    assert "batch 3 has been written since" in finished.error
    apply(late[-1], 3)
    assert rewind(late[-1], "--undo", "--backup", "0001-to-batch-3", "--job-is-stopped").code == 0
    assert tree(late[-1]).items() >= tree(made.checkpoint).items()
