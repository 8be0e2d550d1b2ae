"""Reads what Spark writes into a checkpoint folder."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from headgate.rewind.errors import FailureError, RefusalError
from headgate.rewind.files import Entry, Files

BACKUPS = ".headgate-rewind"

BATCH = re.compile(r"(offsets|commits)/(\d+)")
STORE = r"state/(?P<operator>\d+)/(?P<partition>\d+)/(?:(?P<store>[^/]+)/)?"
STATE_FILE = re.compile(
    STORE + r"(?P<version>\d+)(?:_(?P<unique_id>[0-9a-fA-F-]+))?\.(?P<kind>zip|changelog|delta|snapshot)"
)
SHARED_FILE = re.compile(STORE + r"(?P<folder>SSTs|logs)/(?P<name>[^/.][^/]*(?<!\.crc))")
SCHEMA_FILE = re.compile(r"state/\d+/(?:_metadata/v2/(\d+)|_stateSchema/[^/]+/(\d+)_[^/]+)(?<!\.crc)")
OPERATOR_FILE = re.compile(r"state/\d+/_metadata/(?:metadata|v2/\d+)")
OPERATOR_NAME = re.compile(r'"operatorName":"([^"]+)"')
NAMED_OFFSET = re.compile(r"([A-Za-z0-9_]+):(.*)")
WHOLE_STATE = frozenset({"zip", "snapshot"})

KafkaOffsets = dict[str, dict[int, int]]
PartitionKey = tuple[int, int]


class Store(NamedTuple):
    """One state store: a join has four for each partition, everything else has `default`."""

    operator: int
    partition: int
    name: str


@dataclass(frozen=True)
class StateFile:
    """A file that holds state as of `version`, whole or as the difference from the version before."""

    entry: Entry
    store: Store
    version: int
    unique_id: str | None
    kind: str

    @property
    def is_whole(self) -> bool:
        return self.kind in WHOLE_STATE


@dataclass(frozen=True)
class SharedFile:
    """An SST or log file that several RocksDB versions of one store may refer to."""

    entry: Entry
    store: Store
    name: str


@dataclass(frozen=True)
class Offsets:
    """Where each source stood at the end of a batch, by source name or number, as Spark wrote it."""

    by_source: Mapping[str, Any]
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def kafka(self) -> KafkaOffsets:
        """Topic, partition and offset of the sources that are Kafka."""
        merged: KafkaOffsets = {}
        for offset in self.by_source.values():
            for topic, partitions in (as_kafka(offset) or {}).items():
                merged.setdefault(topic, {}).update(partitions)
        return merged


@dataclass(frozen=True)
class Commit:
    """What a finished batch left for the next one."""

    watermark_ms: int
    state_ids: Mapping[PartitionKey, frozenset[str]]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's files, sorted by what they are."""

    files: Files
    entries: Mapping[str, Entry]
    query_id: str
    offsets: Mapping[int, Entry]
    commits: Mapping[int, Entry]
    state: tuple[StateFile, ...]
    shared: tuple[SharedFile, ...]
    schemas: Mapping[str, int]

    @property
    def last_batch(self) -> int:
        """The newest batch that was at least planned; -1 when there is none."""
        return max([*self.offsets, *self.commits], default=-1)

    @property
    def is_stateful(self) -> bool:
        return bool(self.state)

    @cached_property
    def stores(self) -> Mapping[Store, tuple[StateFile, ...]]:
        """The files of each state store."""
        stores: dict[Store, list[StateFile]] = {}
        for file in self.state:
            stores.setdefault(file.store, []).append(file)
        return {store: tuple(files) for store, files in sorted(stores.items())}

    @cached_property
    def state_ids(self) -> Mapping[int, Mapping[PartitionKey, frozenset[str]]]:
        """Format 2: for each state version, which unique ids the commit log vouches for."""
        return {batch + 1: self.commit_of(batch).state_ids for batch in self.commits}

    def offsets_of(self, batch: int) -> Offsets:
        """Where the sources stood at the end of a batch."""
        return parse_offsets(self.files.read(f"offsets/{batch}"), f"{self.files.root}/offsets/{batch}")

    def commit_of(self, batch: int) -> Commit:
        """What a batch left behind when it finished."""
        return parse_commit(self.files.read(f"commits/{batch}"), f"{self.files.root}/commits/{batch}")

    def first_offsets(self) -> Offsets:
        """Where the Kafka sources began: they note it before their first batch."""
        found = {}
        for path in self.entries:
            parts = path.split("/")
            if parts[0] == "sources" and parts[2:] == ["0"]:
                text = self.files.read(path).decode(errors="replace")
                begin = text.find("{")
                offset = _json_or_none(text[begin:]) if begin >= 0 else None
                if as_kafka(offset):
                    found[parts[1]] = offset
        return Offsets(found)

    def operator_name(self, operator: int) -> str:
        """What Spark calls a state operator, if it says so."""
        for path in self.entries:
            if OPERATOR_FILE.fullmatch(path) and path.startswith(f"state/{operator}/"):
                found = OPERATOR_NAME.search(self.files.read(path).decode(errors="replace"))
                return found[1] if found else ""
        return ""

    def side_files(self, path: str) -> list[str]:
        """The checksums that Hadoop (`.5.crc`) and Spark (`5.zip.crc`) keep beside a file."""
        folder, _, name = path.rpartition("/")
        beside = f"{folder}/" if folder else ""
        names = (f"{beside}.{name}.crc", f"{beside}.{name}.crc.crc", f"{beside}{name}.crc")
        return [side for side in names if side in self.entries]


def read_checkpoint(files: Files) -> Checkpoint:
    """The checkpoint in a folder; refused when the folder is something else."""
    entries = {entry.path: entry for entry in files.listing(skip=BACKUPS)}
    query_id = _query_id(files, entries)
    batches: dict[str, dict[int, Entry]] = {"offsets": {}, "commits": {}}
    state, shared, schemas = [], [], {}
    for path, entry in entries.items():
        if match := BATCH.fullmatch(path):
            batches[match[1]][int(match[2])] = entry
        elif match := STATE_FILE.fullmatch(path):
            state.append(StateFile(entry, _store(match), int(match["version"]), match["unique_id"], match["kind"]))
        elif match := SHARED_FILE.fullmatch(path):
            shared.append(SharedFile(entry, _store(match), match["name"]))
        elif match := SCHEMA_FILE.fullmatch(path):
            schemas[path] = int(match[1] or match[2])
    return Checkpoint(
        files, entries, query_id, batches["offsets"], batches["commits"], tuple(state), tuple(shared), schemas
    )


def parse_offsets(content: bytes, where: str) -> Offsets:
    """An offset log entry: v1 has a line for each source, v2 names the source on the line."""
    version, metadata, *lines = _lines(content, where)
    if version not in ("v1", "v2"):
        raise FailureError(f"{where} has format {version}, which is newer than this tool: use a newer one.")
    conf = _json(metadata, where).get("conf", {}) if metadata else {}
    named = [_named(line) if version == "v2" else (str(number), line) for number, line in enumerate(lines)]
    return Offsets({name: _json(line, where) for name, line in named if line != "-"}, conf)


def parse_commit(content: bytes, where: str) -> Commit:
    """A commit log entry; v2 also lists the unique id of every state file that counts."""
    version, text = (*_lines(content, where), "{}")[:2]
    if version not in ("v1", "v2"):
        raise FailureError(f"{where} has format {version}, which is newer than this tool: use a newer one.")
    found = _json(text, where)
    ids = found.get("stateUniqueIds") or {}
    return Commit(
        found.get("nextBatchWatermarkMs", 0),
        {
            (int(operator), partition): frozenset(_flat(stores))
            for operator, partitions in ids.items()
            for partition, stores in enumerate(partitions)
        },
    )


def as_kafka(offset: Any) -> KafkaOffsets | None:
    """The offset as topic, partition and number; nothing when it is another source's."""
    if not isinstance(offset, dict) or not offset:
        return None
    for partitions in offset.values():
        if not isinstance(partitions, dict) or not all(key.isdigit() for key in partitions):
            return None
    return {topic: {int(key): value for key, value in found.items()} for topic, found in offset.items()}


def _query_id(files: Files, entries: Mapping[str, Entry]) -> str:
    batches = any(BATCH.fullmatch(path) for path in entries)
    if "metadata" in entries and batches:
        found = _json_or_none(files.read("metadata").decode(errors="replace"))
        if isinstance(found, dict) and "id" in found:
            return str(found["id"])
    reason = "has no readable `metadata`" if batches else "has no batches in `offsets` or `commits`"
    raise RefusalError(
        f"{files.root} is not a checkpoint that can be rewound: it {reason}; give the checkpointLocation of the query."
    )


def _store(match: re.Match[str]) -> Store:
    return Store(int(match["operator"]), int(match["partition"]), match["store"] or "default")


def _named(line: str) -> tuple[str, str]:
    match = NAMED_OFFSET.fullmatch(line)
    return (match[1], match[2]) if match else ("?", "-")


def _flat(stores: Iterable[Any]) -> Iterable[str]:
    for store in stores:
        if isinstance(store, str):
            yield store
        else:
            yield from _flat(store)


def _lines(content: bytes, where: str) -> list[str]:
    lines = content.decode(errors="replace").strip().split("\n")
    if len(lines) < 2:
        raise FailureError(f"{where} is cut short or empty: restore it from a backup, or rewind to an earlier batch.")
    return lines


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise FailureError(
            f"{where} is not what Spark writes: restore it from a backup, or rewind to an earlier batch."
        ) from None


def _json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
