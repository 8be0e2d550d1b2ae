"""Whatever is in the files of a checkpoint: one sentence or a rewind that can be undone, and never a traceback."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .tools import link_tree, rewind
from .trees import JOIN_STORES, Shape, plant

BATCHES = 4
FUZZED = {
    "differences": Shape(schema_keys="integer"),
    "join": Shape(kinds=("changelog", "zip"), unique_ids=True, stores=JOIN_STORES),
    "snapshots": Shape(kinds=("zip",)),
    "no commits": Shape(commits=False, settings=False),
    "named sources": Shape(named_sources=True),
}
# Shapes that readers of JSON are surprised by, and beginnings of what Spark writes.
WORDS = [
    "v1",
    "v2",
    "\n",
    "{}",
    "[]",
    "null",
    "true",
    "-",
    '"\\ud800"',
    "[/bold]",
    "1e999",
    "9" * 30,
    "NaN",
    "[" * 3000,
]
KEYS = ["id", "conf", "batchWatermarkMs", "nextBatchWatermarkMs", "stateUniqueIds", "spark.sql.shuffle.partitions", "0"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@st.composite
def contents(draw: st.DrawFn, whole: bytes) -> bytes | None:
    """What a file may hold after a damage; nothing when it is gone."""
    kind = draw(st.sampled_from(["gone", "cut", "flipped", "words", "json", "bytes"]))
    if kind == "gone":
        return None
    if kind == "cut":
        return whole[: draw(st.integers(0, len(whole)))]
    if kind == "flipped":
        changed = bytearray(whole or b"\0")
        for _ in range(draw(st.integers(1, 3))):
            changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
        return bytes(changed)
    if kind == "json":
        found = draw(st.lists(JSON, min_size=1, max_size=3))
        lines = [draw(st.sampled_from(["v1", "v2", "9"])), *(json.dumps(value) for value in found)]
        return "\n".join(lines[draw(st.integers(0, 1)) :]).encode(errors="replace")
    if kind == "words":
        return "".join(draw(st.lists(st.sampled_from(WORDS), max_size=6))).encode()
    return draw(st.binary(max_size=200))


@pytest.fixture(scope="module")
def planted() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for name, shape in FUZZED.items():
            plant(Path(folder) / name, shape, BATCHES)
        yield Path(folder)


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.rewind.files.os.fsync", lambda _: None)


@settings(max_examples=400, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_readers_take_whatever_they_find(data: st.DataObject, planted: Path) -> None:
    made = planted / data.draw(st.sampled_from(sorted(FUZZED)))
    checkpoint = planted / "damaged"
    shutil.rmtree(checkpoint, ignore_errors=True)
    link_tree(made, checkpoint)
    if data.draw(st.booleans()):
        rewind(checkpoint, "--to-batch", data.draw(st.integers(1, BATCHES - 1)), "--apply", "--job-is-stopped")
    for _ in range(data.draw(st.integers(1, 3))):
        hurt(checkpoint, data)
    damaged = files_of(checkpoint)

    batch = data.draw(st.integers(-1, BATCHES + 1))
    words = data.draw(st.sampled_from([("--to-batch", batch), ("--to-batch", batch, "--verbose"), ("--undo",)]))
    more = data.draw(st.sampled_from([(), ("--prune",), ("--new-query-id",)])) if words[0] != "--undo" else ()
    apply = ("--apply",) if words[0] != "--undo" and data.draw(st.booleans()) else ()
    answer = rewind(checkpoint, *words, *more, *apply, "--job-is-stopped")

    answer.out.encode()
    if answer.code:
        assert answer.error.count("\n") == 1
        assert answer.error.endswith((".\n", "?\n"))
        if answer.code == 2 or not apply:
            assert files_of(checkpoint) == damaged
    elif apply and not any(path.startswith(".headgate-rewind/0001") for path in damaged):
        undone = rewind(checkpoint, "--undo", "--job-is-stopped")
        assert undone.code == 0, undone.error
        assert files_of(checkpoint) == damaged


def hurt(checkpoint: Path, data: st.DataObject) -> None:
    """Damage one file, with or without its checksum's knowing, or put one where none belongs."""
    files = sorted(path for path in checkpoint.rglob("*") if path.is_file())
    # The small files that are parsed are outnumbered by state.
    parsed = [path for path in files if "state/" not in path.as_posix() or "_metadata" in path.parts]
    file = data.draw(st.sampled_from(data.draw(st.sampled_from([files, parsed or files]))))
    content = data.draw(contents(file.read_bytes()))
    if data.draw(st.booleans()):
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    file.unlink()
    if content is not None:
        name = data.draw(
            st.sampled_from([file.name, file.name, file.name, f"{file.name}.tmp", "٣", "99999999999999999"])
        )
        file.with_name(name).unlink(missing_ok=True)
        file.with_name(name).write_bytes(content)


def files_of(checkpoint: Path) -> dict[str, bytes]:
    """Every file, backups included."""
    return {
        path.relative_to(checkpoint).as_posix(): path.read_bytes() for path in checkpoint.rglob("*") if path.is_file()
    }
