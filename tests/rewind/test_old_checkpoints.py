"""Checkpoints of every age are taken back, and brought back to the byte."""

from pathlib import Path

import pytest

from headgate.rewind.checkpoint import sort_files
from headgate.rewind.files import LocalFiles

from .tools import apply, refused, rewind, tree
from .trees import MINUTE, SHAPES, Shape, damage, offsets, plant

BATCHES = 5


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_batch_of_every_shape(shape: Shape, batch: int, tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", shape, BATCHES)
    before = tree(checkpoint)
    if batch == BATCHES - 1 and not shape.commits:
        assert "a restart begins with it anyway" in refused(rewind(checkpoint, "--to-batch", batch))
        return
    apply(checkpoint, batch)

    left = sort_files(LocalFiles(checkpoint))
    assert left.restart_batch == batch
    assert not any(file.version > batch for file in left.state)
    assert set(left.offsets) == set(range(batch if shape.commits or batch == 0 else batch + 1))
    assert set(left.commits) == (set(range(batch)) if shape.commits else set())
    assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
    assert tree(checkpoint) == before


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_batch_to_come_is_told_as_such(shape: Shape, tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", shape, BATCHES)
    told = "a restart begins with it anyway" if shape.commits else "never was"
    assert told in refused(rewind(checkpoint, "--to-batch", BATCHES))


def test_watermark_is_the_one_that_spark_will_take(tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", Shape(), BATCHES)
    assert "watermark 1970-01-01 00:03:00.000 UTC" in rewind(checkpoint, "--to-batch", 3).out
    damage(checkpoint / "offsets/2", offsets(2, {}, 7 * MINUTE))
    assert "watermark 1970-01-01 00:07:00.000 UTC" in rewind(checkpoint, "--to-batch", 3).out


def test_watermark_without_commits_is_the_batchs_own(tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", Shape(commits=False), BATCHES)
    assert "watermark 1970-01-01 00:03:00.000 UTC" in rewind(checkpoint, "--to-batch", 3).out


def test_commit_of_one_line(tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", Shape(), BATCHES)
    damage(checkpoint / "commits/2", "v1")
    apply(checkpoint, 3)


def test_source_of_somebodys_own(tmp_path: Path) -> None:
    checkpoint = plant(tmp_path / "checkpoint", Shape(stores=()), BATCHES)
    for batch in range(BATCHES):
        damage(checkpoint / f"offsets/{batch}", f"v1\n\nline {batch} [of] many\n-")
    assert "source 0 line 2 [of] many" in rewind(checkpoint, "--to-batch", 3).out
