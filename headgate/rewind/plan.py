"""Decides what has to go for a restart to begin with a given batch, and when that must not be done.

Batch N starts from the offsets and the watermark that batch N-1 left, and from state version N. What batch N and those
after it wrote are offsets and commits from N on, state versions above N, and schemas numbered N or more.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from headgate.rewind.checkpoint import Checkpoint, Offsets, SharedFile, StateFile, Store
from headgate.rewind.errors import FailureError, RefusalError
from headgate.rewind.files import Entry, Files

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"

Obstacle = Callable[[int], str | None]


@dataclass(frozen=True)
class Moves:
    """The files that leave the checkpoint, in the order in which they do.

    `metadata` goes first and comes back before `closing`: without it Spark 4.1 and later refuse to start, so a job
    that is restarted by accident on a half-rewound checkpoint stops at once and in plain words. State goes before
    commits and commits before offsets, so that an older Spark, too, finds no state for the batch it would continue
    with. `closing` is the offsets of batch N: with only that left, a restart runs batch N, which is what was asked.
    """

    metadata: tuple[str, ...]
    body: tuple[str, ...]
    closing: tuple[str, ...]

    def everything(self) -> tuple[str, ...]:
        return (*self.metadata, *self.body, *self.closing)


@dataclass(frozen=True)
class Rewind:
    """What a rewind to a batch means for one checkpoint."""

    checkpoint: Checkpoint
    to_batch: int
    offsets: tuple[Entry, ...]
    commits: tuple[Entry, ...]
    state: tuple[StateFile, ...]
    other_state: tuple[Entry, ...]
    unreferenced: tuple[SharedFile, ...]
    prune: bool
    resume: Offsets
    watermark_ms: int

    @property
    def replayed(self) -> range:
        """The committed batches whose output will be produced again."""
        return range(self.to_batch, max(self.checkpoint.commits) + 1)

    @property
    def begins_without_data(self) -> bool:
        """Whether the first batch to replay only moved the watermark: Spark does not run such a batch by itself."""
        if self.to_batch == 0 or self.to_batch not in self.checkpoint.offsets:
            return False
        return self.checkpoint.offsets_of(self.to_batch).by_source == self.resume.by_source

    def moves(self) -> Moves:
        """The files to move, each after its side files: a file without a checksum is valid, a lone checksum is not."""
        state = [file.entry.path for file in sorted(self.state, key=lambda file: -file.version)]
        state += [entry.path for entry in self.other_state]
        if self.prune:
            state += [file.entry.path for file in self.unreferenced]
        commits = [entry.path for entry in reversed(self.commits)]
        offsets = [entry.path for entry in reversed(self.offsets)]
        closing = [path for path in offsets if path == f"offsets/{self.to_batch}"]
        return Moves(
            self._with_side_files(["metadata"]),
            self._with_side_files([*state, *commits, *(path for path in offsets if path not in closing)]),
            self._with_side_files(closing),
        )

    def _with_side_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        ordered = dict.fromkeys(name for path in paths for name in (*self.checkpoint.side_files(path), path))
        return tuple(ordered)


def plan_rewind(checkpoint: Checkpoint, to_batch: int, prune: bool, also: Obstacle = lambda _: None) -> Rewind:
    """The rewind to a batch, or a refusal that names the nearest batches that would work."""
    reason = obstacle(checkpoint, to_batch) or also(to_batch)
    if reason:
        raise RefusalError(f"{checkpoint.files.root}: {reason}; {_nearest(checkpoint, to_batch, also)}.")
    state = tuple(file for file in checkpoint.state if file.version > to_batch)
    return Rewind(
        checkpoint=checkpoint,
        to_batch=to_batch,
        offsets=_from(checkpoint.offsets, to_batch),
        commits=_from(checkpoint.commits, to_batch),
        state=state,
        other_state=_other_state(checkpoint, to_batch, state),
        unreferenced=tuple(_unreferenced(checkpoint, to_batch)) if to_batch else (),
        prune=prune,
        resume=resume_offsets(checkpoint, to_batch),
        watermark_ms=checkpoint.commit_of(to_batch - 1).watermark_ms if to_batch else 0,
    )


def resume_offsets(checkpoint: Checkpoint, batch: int) -> Offsets:
    """Where the sources will be read from when a restart begins with this batch."""
    return checkpoint.offsets_of(batch - 1) if batch else checkpoint.first_offsets()


def obstacle(checkpoint: Checkpoint, batch: int) -> str | None:
    """Why the checkpoint cannot be taken back to this batch, if it cannot."""
    if not 0 <= batch <= checkpoint.last_batch:
        return f"batch {batch} never was, the newest is batch {checkpoint.last_batch}"
    if batch > max(checkpoint.commits, default=-1):
        return f"batch {batch} was not committed, so a restart begins with it anyway"
    if batch == 0:
        return None
    if batch - 1 not in checkpoint.commits:
        return f"batch {batch} starts from commits/{batch - 1}, which is purged"
    # Spark does not start without the offsets before the newest ones, either.
    for before in range(batch - 1, max(batch - 3, -1), -1):
        if before not in checkpoint.offsets:
            return f"batch {batch} starts from offsets/{before}, which is purged"
    return _state_obstacle(checkpoint, batch)


def _state_obstacle(checkpoint: Checkpoint, batch: int) -> str | None:
    partitions = checkpoint.offsets_of(batch - 1).conf.get(SHUFFLE_PARTITIONS) if checkpoint.is_stateful else None
    for store, files in checkpoint.stores.items():
        if partitions and store.partition >= int(partitions):
            # Repartitioned later: it has no state from back then, and all that it has goes.
            continue
        if not _can_be_rebuilt(checkpoint, store, files, batch):
            return (
                f"batch {batch} starts from state version {batch}, which is purged or missing in operator "
                f"{store.operator}, partition {store.partition}, store {store.name}"
            )
    return None


def _can_be_rebuilt(checkpoint: Checkpoint, store: Store, files: tuple[StateFile, ...], version: int) -> bool:
    """Whether a whole file at or below the version exists, and every difference from there on."""
    return version == 0 or _base_of(checkpoint, store, files, version) is not None


def _base_of(
    checkpoint: Checkpoint, store: Store, files: tuple[StateFile, ...], version: int
) -> tuple[StateFile, ...] | None:
    """The files that a version is loaded from, or nothing if one of them is missing."""
    by_version: dict[int, list[StateFile]] = {}
    for file in files:
        if _counts(checkpoint, store, file):
            by_version.setdefault(file.version, []).append(file)
    chain: list[StateFile] = []
    for wanted in range(version, 0, -1):
        found = sorted(by_version.get(wanted, []), key=lambda file: not file.is_whole)
        if not found:
            return None
        chain.append(found[0])
        if found[0].is_whole:
            break
    return tuple(chain)


def _counts(checkpoint: Checkpoint, store: Store, file: StateFile) -> bool:
    """Format 2: a file left by a failed attempt has a unique id that no commit lists."""
    if file.unique_id is None:
        return True
    known = checkpoint.state_ids.get(file.version, {}).get((store.operator, store.partition))
    return known is None or file.unique_id in known


def _nearest(checkpoint: Checkpoint, batch: int, also: Obstacle) -> str:
    def works(candidate: int) -> bool:
        return obstacle(checkpoint, candidate) is None and also(candidate) is None

    candidates = sorted({0, *checkpoint.commits})
    below = next((found for found in reversed(candidates) if found < batch and works(found)), None)
    above = next((found for found in candidates if found > batch and works(found)), None)
    words = [
        f"{found} (all over again, from empty state)" if found == 0 else str(found)
        for found in (below, above)
        if found is not None
    ]
    if not words:
        return "no batch of this checkpoint would work, so start the job on a new checkpoint"
    return f"the nearest batch that works is {' or '.join(words)}"


def _from(log: Mapping[int, Entry], batch: int) -> tuple[Entry, ...]:
    return tuple(log[number] for number in sorted(log) if number >= batch)


def _other_state(checkpoint: Checkpoint, batch: int, state: tuple[StateFile, ...]) -> tuple[Entry, ...]:
    """Schemas of later batches; for batch 0 the whole of `state`, which Spark wants to find empty then."""
    if batch:
        return tuple(checkpoint.entries[path] for path, since in checkpoint.schemas.items() if since >= batch)
    listed = {file.entry.path for file in state}
    listed |= {side for path in listed for side in checkpoint.side_files(path)}
    return tuple(
        entry for path, entry in checkpoint.entries.items() if path.startswith("state/") and path not in listed
    )


def _unreferenced(checkpoint: Checkpoint, batch: int) -> Iterator[SharedFile]:
    kept: dict[Store, set[str]] = {}
    for file in checkpoint.state:
        if file.kind == "zip" and file.version <= batch:
            kept.setdefault(file.store, set()).update(files_of_zip(checkpoint.files, file.entry.path))
    present = {(file.store, file.name) for file in checkpoint.shared}
    for store, files in checkpoint.stores.items():
        _check_loadable(checkpoint, store, files, batch, present)
    for shared in checkpoint.shared:
        if shared.name not in kept.get(shared.store, ()):
            yield shared


def _check_loadable(
    checkpoint: Checkpoint, store: Store, files: tuple[StateFile, ...], version: int, present: set[tuple[Store, str]]
) -> None:
    for file in _base_of(checkpoint, store, files, version) or ():
        if file.kind != "zip":
            continue
        for name in files_of_zip(checkpoint.files, file.entry.path):
            if (store, name) not in present:
                raise RefusalError(
                    f"{checkpoint.files.root}: {file.entry.path} needs {name}, which is gone, so state version "
                    f"{version} cannot be loaded; choose an earlier batch."
                )


def files_of_zip(files: Files, path: str) -> set[str]:
    """The SST and log files that a RocksDB snapshot refers to."""
    try:
        with zipfile.ZipFile(io.BytesIO(files.read(path))) as archive:
            text = archive.read("metadata").decode()
        found = json.loads(text.partition("\n")[2])
    except (zipfile.BadZipFile, KeyError, ValueError):
        raise FailureError(
            f"{files.root}/{path} is not a RocksDB snapshot that Spark wrote: restore it from a backup."
        ) from None
    shared = [*(found.get("sstFiles") or []), *(found.get("logFiles") or [])]
    return {name for file in shared for key, name in file.items() if key.startswith("dfs")}
