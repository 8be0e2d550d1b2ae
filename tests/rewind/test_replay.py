"""A rewound checkpoint makes a real query write the same again and end in the same state."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from .queries import CASES, Checkpoints, Output
from .tools import apply, backups, rewind, tree


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
