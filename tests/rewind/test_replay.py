"""A rewound checkpoint makes a real query write the same again and end in the same state."""

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.rewind.checkpoint import BACKUPS
from headgate.rewind.files import open_files
from headgate.rewind.lock import LOCK, alone, beginning_of

from .queries import CASES, Checkpoints, Output
from .tools import apply, backups, refused, rewind, tree
from .trees import damage


def since(output: Output, batch: int) -> Output:
    return {number: rows for number, rows in output.items() if number >= batch}


@pytest.mark.parametrize("case", [name for name in CASES if name != "purged"])
def test_replay_writes_the_same_and_ends_in_the_same_state(case: str, checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made(case)
    checkpoint = checkpoints.copy(case, tmp_path / "checkpoint")
    batch = max(made.output) - 2
    apply(checkpoint, batch)
    put_aside = backups(checkpoint)

    assert any(since(made.output, batch).values()), "nothing to compare"
    assert made.run(checkpoint) == since(made.output, batch)
    state = made.state(checkpoint, tmp_path / "state")
    assert state == made.state(made.checkpoint, tmp_path / "state")
    assert bool(state) == (case != "stateless")
    assert backups(checkpoint) == put_aside, "Spark touched the backup"


@pytest.mark.parametrize("case", ["rocksdb-zip", "hdfs-delta", "transform-with-state", "stateless"])
def test_rewind_to_zero_starts_all_over(case: str, checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made(case)
    checkpoint = checkpoints.copy(case, tmp_path / "checkpoint")
    apply(checkpoint, 0)

    assert not any(path.startswith("state/") for path in tree(checkpoint))
    again = made.run(checkpoint)
    rows = sorted(row for batch in again.values() for row in batch)
    if not CASES[case].snapshots:
        assert again == made.output
    assert rows == sorted(row for batch in made.output.values() for row in batch)
    assert made.state(checkpoint, tmp_path / "state") == made.state(made.checkpoint, tmp_path / "state")


def test_pruned_checkpoint_replays(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("rocksdb-zip")
    checkpoint = checkpoints.copy("rocksdb-zip", tmp_path / "checkpoint")
    before = len(list(checkpoint.rglob("*.sst")))
    assert "--prune" in rewind(checkpoint, "--to-batch", 3).out
    apply(checkpoint, 3, "--prune")

    assert len([path for path in tree(checkpoint) if path.endswith(".sst")]) < before
    assert len(list(checkpoint.rglob("*.sst"))) == before
    assert made.run(checkpoint) == since(made.output, 3)


def test_undone_rewind_goes_on_as_if_nothing_had_been(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("rocksdb-zip")
    checkpoint = checkpoints.copy("rocksdb-zip", tmp_path / "checkpoint")
    apply(checkpoint, 3, "--prune")
    assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0

    assert tree(checkpoint) == tree(made.checkpoint)
    assert made.run(checkpoint) == {}


def test_old_batches_come_back_even_after_the_job_has_run(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("rocksdb-zip")
    checkpoint = checkpoints.copy("rocksdb-zip", tmp_path / "checkpoint")
    apply(checkpoint, 3)
    made.run(checkpoint)

    refusal = rewind(checkpoint, "--undo", "--job-is-stopped")
    assert refusal.code == 2
    assert "the job has run since" in refusal.error
    apply(checkpoint, 3)
    undone = rewind(checkpoint, "--undo", "--backup", "0001-to-batch-3", "--job-is-stopped")
    assert undone.code == 0, undone.error
    restored = tree(checkpoint)
    assert {path: restored[path] for path in tree(made.checkpoint)} == tree(made.checkpoint)
    assert made.run(checkpoint) == {}


def torn(path: Path) -> None:
    damage(path, "")


def gone(path: Path) -> None:
    damage(path, None)


DAMAGES: dict[str, Callable[[Path, int], object]] = {
    "no commits at all, as Spark 2.1 leaves it": lambda found, _: shutil.rmtree(found / "commits"),
    "commits behind by more than one": lambda found, batch: [gone(path) for path in logs(found, "commits", batch)],
    "torn offsets of the batch": lambda found, batch: torn(found / f"offsets/{batch}"),
    "torn commits from the batch on": lambda found, batch: [torn(path) for path in logs(found, "commits", batch)],
    "offsets with a gap": lambda found, batch: gone(found / f"offsets/{batch}"),
    "a name that only Java takes for a number": lambda found, _: damage(found / "offsets/٩", "v1"),
    "a torn state file of a later batch": lambda found, batch: [torn(file) for file in state_after(found, batch)],
}


def logs(checkpoint: Path, log: str, batch: int) -> list[Path]:
    return [path for path in (checkpoint / log).glob("[0-9]*") if int(path.name) >= batch]


def state_after(checkpoint: Path, batch: int) -> list[Path]:
    return list(checkpoint.glob(f"state/0/*/{batch + 1}.*"))


@pytest.mark.parametrize("damage_of", DAMAGES.values(), ids=DAMAGES)
def test_rewind_cures_what_spark_fails_over(
    damage_of: Callable[[Path, int], object], checkpoints: Checkpoints, tmp_path: Path
) -> None:
    made = checkpoints.made("hdfs-delta")
    checkpoint = checkpoints.copy("hdfs-delta", tmp_path / "checkpoint")
    batch = max(made.output) - 2
    damage_of(checkpoint, batch)
    apply(checkpoint, batch)
    assert made.run(checkpoint) == since(made.output, batch)


def test_rewind_to_zero_takes_sparks_temporary_files_along(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("stateless")
    checkpoint = checkpoints.copy("stateless", tmp_path / "checkpoint")
    (checkpoint / "offsets/.7.6f1ab0c2.tmp").write_text("v1")
    apply(checkpoint, 0)
    assert made.run(checkpoint) == made.output


def test_damage_is_seen_through_hadoop_too(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoint = checkpoints.copy("rocksdb-zip", tmp_path / "checkpoint")
    for name in ("offsets/1", "state/0/1/4.zip"):
        (checkpoint / name).write_bytes((checkpoint / name).read_bytes()[:-1])
    for batch, name in ((2, "offsets/1"), (4, "state/0/1/4.zip")):
        reason = refused(rewind(checkpoint.as_uri(), "--to-batch", batch, "--apply", "--job-is-stopped"))
        assert f"batch {batch} starts from {name}, which cannot be read (" in reason
        assert "the nearest batch that works is" in reason


def test_path_and_address_keep_each_other_out(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoint = checkpoints.copy("stateless", tmp_path / "checkpoint")
    alive = os.getppid()
    owner = {"host": socket.gethostname(), "process": alive, "began": beginning_of(alive)}
    for where in (checkpoint, checkpoint.as_uri()):
        with alone(open_files(str(where))):
            assert f'"process": {os.getpid()}' in (checkpoint / LOCK).read_text()
        damage(checkpoint / LOCK, json.dumps(owner))
        reason = refused(rewind(where, "--to-batch", 2, "--apply", "--job-is-stopped"))
        assert f"another rewind is at work on it (process {alive} on" in reason
        damage(checkpoint / LOCK, json.dumps({**owner, "began": "another's"}))
        apply(where, 2)
        assert rewind(where, "--undo", "--job-is-stopped").code == 0
        assert not (checkpoint / BACKUPS).exists()


def test_address_that_hadoop_does_not_know(spark: SparkSession) -> None:
    answer = rewind("nosuch://host/checkpoint", "--to-batch", 3)
    assert answer.code == 1
    assert answer.error.startswith("nosuch://host/checkpoint cannot be reached (")
    assert answer.error.count("\n") == 1


def test_rewind_through_hadoop_moves_the_same_files(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("format-2-zip")
    local = checkpoints.copy("format-2-zip", tmp_path / "local")
    remote = checkpoints.copy("format-2-zip", tmp_path / "remote")
    apply(local, 0)
    apply(remote.as_uri(), 0)
    assert tree(remote) == tree(local)
    assert rewind(remote.as_uri(), "--undo", "--job-is-stopped").code == 0
    assert tree(remote) == tree(made.checkpoint)

    apply(remote.as_uri(), 4, "--prune", "--new-query-id")
    assert made.run(remote) == since(made.output, 4)
