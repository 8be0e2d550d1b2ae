"""Checkpoints of real queries, damaged at random: refused, or taken back so that the query accepts it, or undone."""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException

from .queries import Checkpoints, Output
from .tools import link_tree, refused, rewind, tree

CASES = ["rocksdb-zip", "hdfs-delta", "rocksdb-changelog", "format-2-changelog", "join", "stateless"]
KINDS = ["removed", "emptied", "cut", "changed", "changed unseen", "another's"]
# What a checksum would have told, and content that fits elsewhere: only a restart can tell.
UNSEEN = {"changed unseen", "another's"}
EXAMPLES = 40

numbers = count()
came_of_it: Counter[tuple[str, str]] = Counter()


@pytest.fixture(scope="module", autouse=True)
def account() -> Iterator[None]:
    """What came of each kind of damage, for the one who runs this with --capture=no."""
    yield
    for (kind, end), times in sorted(came_of_it.items()):
        print(f"{kind}: {end} {times}")


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    # A smaller example would cost as many restarts again.
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_damaged_checkpoint_of_a_real_query(data: st.DataObject, checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made(data.draw(st.sampled_from(CASES)))
    # A folder for each: Spark's maintenance outlives a query, and comes back to where it was.
    folder = tmp_path / str(next(numbers))
    damaged = link_tree(made.checkpoint, folder / "damaged")
    last = max(made.output)
    batch = data.draw(st.sampled_from([0, last - 3, last - 2, last - 1, last]))
    kinds = [hurt(damaged, batch, data) for _ in range(data.draw(st.integers(1, 2)))]
    told = " and ".join(sorted(kinds))
    before = tree(damaged)

    answer = rewind(damaged, "--to-batch", batch, "--apply", "--job-is-stopped")
    if answer.code:
        refused(answer)
        assert tree(damaged) == before
        came_of_it[told, "refused"] += 1
        return
    restarted = folder / "restarted"
    shutil.copytree(damaged, restarted)
    if is_accepted(made.run, restarted, batch):
        came_of_it[told, "accepted"] += 1
    else:
        assert UNSEEN & set(kinds), f"done, but no restart: {told}"
        came_of_it[told, "undone"] += 1
    undone = rewind(damaged, "--undo", "--job-is-stopped")
    assert undone.code == 0, undone.error
    assert tree(damaged) == before


def is_accepted(run: Callable[[Path], Output], checkpoint: Path, batch: int) -> bool:
    """Whether the real query starts, and begins with the batch."""
    try:
        output = run(checkpoint)
    except PySparkException:
        return False
    # A last batch without data only comes when there is more data.
    assert min(output, default=batch) == batch
    return True


def hurt(checkpoint: Path, batch: int, data: st.DataObject) -> str:
    """Damage one file, mostly of those that a batch begins with; gives the kind of damage."""
    kind = data.draw(st.sampled_from(KINDS))
    folder = data.draw(st.sampled_from(["offsets", "commits", "state", "."]))
    files = sorted(path for path in (checkpoint / folder).rglob("*") if path.is_file() and path.suffix != ".crc")
    near = [path for path in files if re.match(f"({batch - 1}|{batch})(?![0-9])", path.name)]
    file = data.draw(st.sampled_from(data.draw(st.sampled_from([near, near, files])) or [checkpoint / "metadata"]))
    content = file.read_bytes()
    other = data.draw(st.sampled_from(files or [file])).read_bytes()
    file.unlink()
    if kind in UNSEEN or (kind != "changed" and data.draw(st.booleans())):
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    if kind == "another's":
        content = other
    elif kind.startswith("changed") and content:
        at = data.draw(st.integers(0, len(content) - 1))
        content = content[:at] + bytes([content[at] ^ 1 << data.draw(st.integers(0, 7))]) + content[at + 1 :]
    elif kind == "cut":
        content = content[: data.draw(st.integers(0, max(len(content) - 1, 0)))]
    if kind != "removed":
        file.write_bytes(b"" if kind == "emptied" else content)
    # An SST file may be large: only its size is looked at.
    return "changed unseen" if kind == "changed" and file.suffix == ".sst" else kind
