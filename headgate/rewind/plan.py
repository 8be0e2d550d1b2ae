"""Decides what has to go for a restart to begin with a given batch, and when that must not be done.

Batch N starts from the offsets and the watermark that batch N-1 left, and from state version N. What batch N and those
after it wrote are offsets and commits from N on, state versions above N, and schemas numbered N or more.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from headgate.rewind.checkpoint import CODEC, SHUFFLE_PARTITIONS, Checkpoint, Offsets, SharedFile, StateFile, Store
from headgate.rewind.errors import DamageError, RefusalError
from headgate.rewind.files import Entry

DEFAULT_STORE = "default"

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
    strays: tuple[Entry, ...]
    state: tuple[StateFile, ...]
    other_state: tuple[Entry, ...]
    unreferenced: tuple[SharedFile, ...]
    prune: bool
    resume: Offsets
    watermark_ms: int

    @property
    def replayed(self) -> range:
        """The committed batches whose output will be produced again."""
        return range(self.to_batch, max([self.to_batch, *self.checkpoint.commits]) + 1)

    @property
    def begins_without_data(self) -> bool:
        """Whether the first batch to replay only moved the watermark: Spark does not run such a batch by itself."""
        if self.to_batch == 0 or self.to_batch not in self.checkpoint.offsets:
            return False
        try:
            return self.checkpoint.offsets_of(self.to_batch).by_source == self.resume.by_source
        except DamageError:
            # It goes, and need not be readable.
            return False

    @property
    def stays(self) -> tuple[str, ...]:
        """What stays in its place although it looks as if it were newer, or may be deleted before an undo."""
        pruned = set(self.unreferenced if self.prune else ())
        shared = [file.entry.path for file in self.checkpoint.shared if file not in pruned] if self.to_batch else []
        gone = set(self.offsets)
        return (*shared, *(entry.path for entry in _from(self.checkpoint.offsets, self.to_batch) if entry not in gone))

    def moves(self) -> Moves:
        """The files to move, each after its side files: a file without a checksum is valid, a lone checksum is not."""
        state = [file.entry.path for file in sorted(self.state, key=lambda file: -file.version)]
        state += [entry.path for entry in self.other_state]
        if self.prune:
            state += [file.entry.path for file in self.unreferenced]
        commits = [entry.path for entry in reversed(self.commits)]
        commits += [entry.path for entry in self.strays]
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
    first = _first_to_go(checkpoint, to_batch)
    return Rewind(
        checkpoint=checkpoint,
        to_batch=to_batch,
        offsets=_from(checkpoint.offsets, first),
        commits=_from(checkpoint.commits, first),
        strays=tuple(checkpoint.strays(to_batch)),
        state=state,
        other_state=_other_state(checkpoint, to_batch, state),
        unreferenced=tuple(_unreferenced(checkpoint, to_batch)) if to_batch else (),
        prune=prune,
        resume=resume_offsets(checkpoint, to_batch),
        watermark_ms=_watermark(checkpoint, to_batch) if to_batch else 0,
    )


def resume_offsets(checkpoint: Checkpoint, batch: int) -> Offsets:
    """Where the sources will be read from when a restart begins with this batch."""
    return checkpoint.offsets_of(batch - 1) if batch else checkpoint.first_offsets()


def obstacle(checkpoint: Checkpoint, batch: int) -> str | None:
    """Why the checkpoint cannot be taken back to this batch, if it cannot."""
    if batch == checkpoint.restart_batch:
        if not _is_damaged(checkpoint, batch):
            uncommitted = batch in checkpoint.offsets or not checkpoint.offsets
            return f"{f'batch {batch} was not committed, so ' if uncommitted else ''}a restart begins with it anyway"
    elif not 0 <= batch <= checkpoint.last_batch:
        return f"batch {batch} never was, the newest is batch {checkpoint.last_batch}"
    if batch == 0:
        return _obstacle_in(checkpoint, 0, checkpoint.first_offset_files.values())
    try:
        return _log_obstacle(checkpoint, batch) or state_obstacle(checkpoint, batch)
    except DamageError as damage:
        return f"batch {batch} starts from {damage}"


def state_obstacle(checkpoint: Checkpoint, batch: int) -> str | None:
    """What of the state that a batch starts from cannot be loaded, if anything."""
    conf = checkpoint.offsets_of(batch - 1).conf
    codec = conf.get(CODEC, "")
    is_lz4 = codec == "lz4" or codec.endswith("LZ4CompressionCodec")
    for store in _expected_stores(checkpoint, batch, _setting(conf, batch)):
        chain = _base_of(checkpoint, store, batch)
        if chain is None:
            return (
                f"batch {batch} starts from state version {batch}, which is purged or missing in operator "
                f"{store.operator}, partition {store.partition}, store {store.name}"
            )
        if chain[0].unique_id and not checkpoint.state_ids(batch):
            return f"batch {batch} starts from commits/{batch - 1}, which does not say which files of state count"
        for file in chain:
            wrong = checkpoint.flaw(file.entry.path, is_lz4) or _lacks(checkpoint, file)
            if wrong:
                return f"batch {batch} starts from {file.entry.path}, which {wrong}"
    staying = (path for path in checkpoint.descriptions if checkpoint.schemas.get(path, -1) < batch)
    return _obstacle_in(checkpoint, batch, staying)


def _obstacle_in(checkpoint: Checkpoint, batch: int, paths: Iterable[str]) -> str | None:
    wrongs = ((path, checkpoint.flaw(path)) for path in paths)
    return next((f"batch {batch} starts from {path}, which {wrong}" for path, wrong in wrongs if wrong), None)


def _log_obstacle(checkpoint: Checkpoint, batch: int) -> str | None:
    newest = checkpoint.offsets_of(batch - 1)
    if not checkpoint.commits:
        checkpoint.offsets_of(batch)
        return None
    checkpoint.commit_of(batch - 1)
    # Spark does not start without the offsets before the newest ones, either, nor when they are of other sources.
    if batch > 1 and checkpoint.offsets_of(batch - 2).numbered != newest.numbered:
        return f"batch {batch} starts from offsets/{batch - 2} and {batch - 1}, of which one has lost a source"
    return None


def _is_damaged(checkpoint: Checkpoint, batch: int) -> bool:
    """Whether Spark fails when it restarts with this batch, as it does by its own rule."""
    try:
        for needed in (batch - 1, batch):
            if needed in checkpoint.offsets:
                checkpoint.offsets_of(needed)
            if needed in checkpoint.commits:
                checkpoint.commit_of(needed)
        return batch > 0 and state_obstacle(checkpoint, batch) is not None
    except DamageError:
        return True


def _watermark(checkpoint: Checkpoint, batch: int) -> int:
    if not checkpoint.commits:
        return checkpoint.offsets_of(batch).watermark_ms
    return max(checkpoint.offsets_of(batch - 1).watermark_ms, checkpoint.commit_of(batch - 1).watermark_ms)


def _first_to_go(checkpoint: Checkpoint, batch: int) -> int:
    """The first batch whose log goes: without commits, Spark runs the last batch of the offsets once more."""
    return batch if checkpoint.commits or batch == 0 else batch + 1


def _setting(conf: Mapping[str, str], batch: int) -> int | None:
    partitions = conf.get(SHUFFLE_PARTITIONS)
    if partitions is None:
        return None
    if re.fullmatch("[1-9][0-9]{0,8}", partitions):
        return int(partitions)
    raise DamageError(f"offsets/{batch - 1}, which says that there are {partitions} partitions")


def _expected_stores(checkpoint: Checkpoint, batch: int, setting: int | None) -> Iterator[Store]:
    """Every store that Spark will load: each operator's, in all of its partitions, as its siblings have them."""
    listed: dict[int, set[int]] = {}
    for operator, partition in checkpoint.state_ids(batch):
        listed.setdefault(operator, set()).add(partition)
    known = {*checkpoint.operators, *listed}
    for operator in sorted(known):
        names, partitions = checkpoint.operators.get(operator, ({DEFAULT_STORE}, set()))
        present = partitions | listed.get(operator, set())
        for partition in range(_partitions(checkpoint, operator, present, setting)):
            for name in sorted(names):
                yield Store(operator, partition, name)
    between = next(operator for operator in count() if operator not in known)
    if between < max(known, default=-1):
        yield Store(between, 0, DEFAULT_STORE)


def _partitions(checkpoint: Checkpoint, operator: int, present: set[int], setting: int | None) -> int:
    # Without keys there is one partition, whatever the setting says; old Sparks do not say whether there are keys.
    if present == {0} and not checkpoint.has_keys(operator):
        return 1
    return max(present) + 1 if setting is None else setting


def _base_of(checkpoint: Checkpoint, store: Store, version: int) -> tuple[StateFile, ...] | None:
    """The files that a version is loaded from, whole one and differences, or nothing if one of them is missing."""
    versions = checkpoint.stores.get(store, {})
    chain: list[StateFile] = []
    for wanted in range(version, 0, -1):
        found = next((file for file in versions.get(wanted, ()) if _counts(checkpoint, file)), None)
        if found is None:
            return None
        chain.append(found)
        if found.is_whole:
            break
    return tuple(chain)


def _counts(checkpoint: Checkpoint, file: StateFile) -> bool:
    """Format 2: a file left by a failed attempt has a unique id that no commit lists."""
    if file.unique_id is None:
        return True
    known = checkpoint.state_ids(file.version).get((file.store.operator, file.store.partition))
    return known is None or file.unique_id in known


def _lacks(checkpoint: Checkpoint, file: StateFile) -> str | None:
    """Which of the files that a RocksDB snapshot refers to is not there, in words."""
    if file.kind != "zip":
        return None
    for name, size in checkpoint.snapshot_files(file.entry.path).items():
        found = checkpoint.shared_sizes.get((file.store, name))
        if found is None or size not in (None, found):
            what = "gone" if found is None else "cut short"
            return f"needs {name}, which is {what}, so state version {file.version} cannot be loaded"
    return None


def _nearest(checkpoint: Checkpoint, batch: int, also: Obstacle) -> str:
    def works(candidate: int) -> bool:
        return obstacle(checkpoint, candidate) is None and also(candidate) is None

    candidates = sorted({0, *checkpoint.commits, *checkpoint.offsets})
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
    """The SST and log files that no snapshot up to a batch refers to; a snapshot that cannot be read refers to none."""
    if not checkpoint.shared:
        return
    kept: dict[Store, set[str]] = {}
    for file in checkpoint.state:
        if file.kind == "zip" and file.version <= batch:
            kept.setdefault(file.store, set()).update(checkpoint.snapshot_files(file.entry.path))
    for shared in checkpoint.shared:
        if shared.name not in kept.get(shared.store, ()):
            yield shared
