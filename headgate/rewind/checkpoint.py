"""Reads what Spark writes into a checkpoint folder."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from headgate.rewind.errors import DamageError, RefusalError
from headgate.rewind.files import Entry, Files
from headgate.rewind.shapes import json_or_none, json_start_or_none, part
from headgate.rewind.sound import files_of_zip, flaw

BACKUPS = ".headgate-rewind"

# A name that is a number for Java's Long and for nobody else must not be taken for a batch.
NUMBER = "(?:0|[1-9][0-9]{0,17})"
BATCH = re.compile(rf"(offsets|commits)/({NUMBER})")
LOG_FILE = re.compile(r"(?:offsets|commits)/(.+)", re.DOTALL)
NEARLY_A_BATCH = re.compile(r"[+-]?\d{1,18}")
STORE = rf"state/(?P<operator>{NUMBER})/(?P<partition>{NUMBER})/(?:(?P<store>[^/]+)/)?"
STATE_FILE = re.compile(
    STORE + rf"(?P<version>{NUMBER})(?:_(?P<unique_id>[0-9a-fA-F-]+))?\.(?P<kind>zip|changelog|delta|snapshot)"
)
SHARED_FILE = re.compile(STORE + r"(?P<folder>SSTs|logs)/(?P<name>[^/.][^/]*(?<!\.crc))")
SCHEMA_FILE = re.compile(rf"state/{NUMBER}/(?:_metadata/v2/({NUMBER})|_stateSchema/[^/]+/({NUMBER})_[^/]+)(?<!\.crc)")
OPERATOR_FILE = re.compile(rf"state/({NUMBER})/_metadata/(?:metadata|v2/{NUMBER})")
DESCRIPTION = re.compile(rf"state/{NUMBER}/.*_(?:metadata|stateSchema)/(?:.*/)?[^/.][^/]*(?<!\.crc)")
FIRST_OFFSETS = re.compile(r"sources/([^/]+)/0")
OPERATOR_NAME = re.compile(r'"operatorName":"([^"]+)"')
NAMED_OFFSET = re.compile(r"([^:]*):(.*)")
WHOLE_STATE = frozenset({"zip", "snapshot"})

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
CODEC = "spark.sql.streaming.stateStore.compression.codec"
FORMATS = ("v1", "v2")
LINES_BEFORE_SOURCES = 2

KafkaOffsets = dict[str, dict[int, int]]
PartitionKey = tuple[int, int]


class Store(NamedTuple):
    """One state store: a join has four for each partition, everything else has `default`."""

    operator: int
    partition: int
    name: str


class Operator(NamedTuple):
    """A state operator's stores, by name, and partitions."""

    stores: set[str]
    partitions: set[int]


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
    numbered: int = 0
    "How many sources there are that have no name."
    watermark_ms: int = 0
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
    _flaws: dict[str, str | None] = field(default_factory=dict)
    _state_ids: dict[int, Mapping[PartitionKey, frozenset[str]]] = field(default_factory=dict)

    @cached_property
    def last_batch(self) -> int:
        """The newest batch that was at least planned; -1 when there is none."""
        return max([*self.offsets, *self.commits], default=-1)

    @cached_property
    def restart_batch(self) -> int | None:
        """The batch that a restart begins with, by Spark's own rule; nothing when Spark does not start."""
        if not self.offsets:
            return None if self.commits else 0
        last = max(self.offsets)
        if last > 0 and last - 1 not in self.offsets:
            return None
        # Without commits, as Spark 2.1 leaves it, the last batch counts as unfinished.
        committed = max(self.commits, default=-1)
        if committed > last:
            return None
        return last + 1 if committed == last else last

    @cached_property
    def stores(self) -> Mapping[Store, Mapping[int, tuple[StateFile, ...]]]:
        """The files of each state store by version, whole ones first."""
        stores: dict[Store, dict[int, list[StateFile]]] = {}
        for file in self.state:
            stores.setdefault(file.store, {}).setdefault(file.version, []).append(file)
        return {
            store: {
                version: tuple(sorted(files, key=lambda file: not file.is_whole)) for version, files in versions.items()
            }
            for store, versions in sorted(stores.items())
        }

    @cached_property
    def operators(self) -> Mapping[int, Operator]:
        """The state operators, by what is there of any version."""
        found: dict[int, Operator] = {}
        for store in self.stores:
            operator = found.setdefault(store.operator, Operator(set(), set()))
            operator.stores.add(store.name)
            operator.partitions.add(store.partition)
        return found

    @cached_property
    def shared_sizes(self) -> Mapping[tuple[Store, str], int]:
        """The bytes of each SST and log file of a store."""
        return {(file.store, file.name): file.entry.size for file in self.shared}

    @cached_property
    def descriptions(self) -> tuple[str, ...]:
        """The files that describe state operators and their schemas."""
        return tuple(path for path in self.entries if DESCRIPTION.fullmatch(path))

    @cached_property
    def first_offset_files(self) -> Mapping[str, str]:
        """Where each source noted how it began."""
        return {match[1]: path for path in self.entries if (match := FIRST_OFFSETS.fullmatch(path))}

    def offsets_of(self, batch: int) -> Offsets:
        """Where the sources stood at the end of a batch."""
        return parse_offsets(self._read_log(f"offsets/{batch}"), f"offsets/{batch}")

    def commit_of(self, batch: int) -> Commit:
        """What a batch left behind when it finished."""
        return parse_commit(self._read_log(f"commits/{batch}"), f"commits/{batch}")

    def state_ids(self, version: int) -> Mapping[PartitionKey, frozenset[str]]:
        """Format 2: the unique ids of a state version that the commit log vouches for; none when it does not say."""
        if version not in self._state_ids:
            try:
                self._state_ids[version] = self.commit_of(version - 1).state_ids
            except DamageError:
                self._state_ids[version] = {}
        return self._state_ids[version]

    def flaw(self, path: str, is_lz4: bool = False) -> str | None:
        """What is wrong with a file; nothing when it looks sound."""
        if path not in self._flaws:
            self._flaws[path] = flaw(self.files, self.entries[path], self.entries, is_lz4)
        return self._flaws[path]

    def snapshot_files(self, path: str) -> Mapping[str, int | None]:
        """The SST and log files that a RocksDB snapshot refers to; none when it cannot be read."""
        try:
            return files_of_zip(self.files.read(path)) or {}
        except OSError:
            return {}

    def first_offsets(self) -> Offsets:
        """Where the Kafka sources began: they note it before their first batch."""
        found = {}
        for source, path in self.first_offset_files.items():
            text = self.files.read(path).decode(errors="replace")
            offset = json_or_none(text[max(text.find("{"), 0) :])
            if as_kafka(offset):
                found[source] = offset
        return Offsets(found)

    def operator_name(self, operator: int) -> str:
        """What Spark calls a state operator, if it says so."""
        found = OPERATOR_NAME.search(self._operator_texts.get(operator, ""))
        return found[1] if found else ""

    def has_keys(self, operator: int) -> bool | None:
        """Whether a state operator has keys, and with them all partitions; nothing when Spark does not say."""
        path = f"state/{operator}/0/_metadata/schema"
        text = self.files.read(path).decode(errors="replace") if path in self.entries else ""
        begin = text.find('{"type":"struct"')
        fields = part(json_start_or_none(text[begin:]) if begin >= 0 else None, "fields", list)
        return None if fields is None else any(part(field, "type", object) != "void" for field in fields)

    def side_files(self, path: str) -> list[str]:
        """The checksums that Hadoop (`.5.crc`) and Spark (`5.zip.crc`) keep beside a file."""
        folder, _, name = path.rpartition("/")
        beside = f"{folder}/" if folder else ""
        names = (f"{beside}.{name}.crc", f"{beside}.{name}.crc.crc", f"{beside}{name}.crc")
        return [side for side in names if side in self.entries]

    def strays(self, batch: int) -> Iterator[Entry]:
        """Files among the logs that are no batch's, and keep Spark from beginning with this one all the same.

        Spark 4.1 and later do not begin with batch 0 while there is anything, its own temporary files included; and
        every Spark takes `03`, or digits of another script, for a batch.
        """
        for path, entry in self.entries.items():
            match = LOG_FILE.fullmatch(path)
            if match and not BATCH.fullmatch(path):
                is_later = NEARLY_A_BATCH.fullmatch(match[1]) and int(match[1]) >= batch
                if is_later or batch == 0:
                    yield entry

    @cached_property
    def _operator_texts(self) -> Mapping[int, str]:
        texts: dict[int, str] = {}
        for path in self.entries:
            if (match := OPERATOR_FILE.fullmatch(path)) and int(match[1]) not in texts:
                texts[int(match[1])] = self.files.read(path).decode(errors="replace")
        return texts

    def _read_log(self, path: str) -> bytes:
        if path not in self.entries:
            raise DamageError(f"{path}, which is purged or missing")
        wrong = self.flaw(path)
        if wrong:
            raise DamageError(f"{path}, which {wrong}")
        return self.files.read(path)


def read_checkpoint(files: Files) -> Checkpoint:
    """The checkpoint in a folder; refused when the folder is something else."""
    if not files.exists(""):
        raise RefusalError(f"{files.root} is not there: give the checkpointLocation of the query.")
    checkpoint = sort_files(files)
    batches = bool(checkpoint.offsets or checkpoint.commits)
    if batches and checkpoint.query_id and not checkpoint.flaw("metadata"):
        return checkpoint
    reason = "has no readable `metadata`" if batches else "has no batches in `offsets` or `commits`"
    raise RefusalError(
        f"{files.root} is not a checkpoint that can be rewound: it {reason}; give the checkpointLocation of the query."
    )


def sort_files(files: Files) -> Checkpoint:
    """A folder's files, sorted by what they would be in a checkpoint."""
    entries = {entry.path: entry for entry in files.listing(skip=BACKUPS)}
    query_id = _query_id(files) if "metadata" in entries else ""
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
    version, *lines = _lines(content, where)
    if len(lines) < LINES_BEFORE_SOURCES:
        raise DamageError(f"{where}, which is cut short")
    metadata, *sources = lines
    found = json_or_none(metadata) if metadata.strip() else {}
    conf = (found.get("conf") or {}) if isinstance(found, dict) else None
    if not isinstance(conf, dict):
        raise DamageError(f"{where}, which is not what Spark writes")
    named = [_named(line, where) if version == "v2" else (str(number), line) for number, line in enumerate(sources)]
    by_source = {name: _source_offset(text, where) for name, text in named if text != "-"}
    watermark = _milliseconds(found, "batchWatermarkMs", where)
    numbered = len(sources) if version == "v1" else 0
    return Offsets(by_source, numbered, watermark, {key: str(value) for key, value in conf.items()})


def parse_commit(content: bytes, where: str) -> Commit:
    """A commit log entry; v2 also lists the unique id of every state file that counts."""
    _, text, *_ = (*_lines(content, where), "{}")
    found = json_or_none(text)
    ids = (found.get("stateUniqueIds") or {}) if isinstance(found, dict) else None
    if not isinstance(ids, dict):
        raise DamageError(f"{where}, which is not what Spark writes")
    try:
        state_ids = {
            (int(operator), partition): frozenset(_flat(stores))
            for operator, partitions in ids.items()
            for partition, stores in enumerate(partitions)
        }
    except (TypeError, ValueError, RecursionError):
        raise DamageError(f"{where}, which is not what Spark writes") from None
    return Commit(_milliseconds(found, "nextBatchWatermarkMs", where), state_ids)


def as_kafka(offset: Any) -> KafkaOffsets | None:
    """The offset as topic, partition and number; nothing when it is another source's."""
    if not isinstance(offset, dict) or not offset:
        return None
    for partitions in offset.values():
        if not isinstance(partitions, dict) or not all(map(_is_kafka_partition, partitions.items())):
            return None
    return {topic: {int(key): value for key, value in found.items()} for topic, found in offset.items()}


def _milliseconds(found: Any, key: str, where: str) -> int:
    value = part({key: found.get(key) or 0}, key, int)
    if value is None:
        raise DamageError(f"{where}, which is not what Spark writes")
    return value


def _is_kafka_partition(item: tuple[str, Any]) -> bool:
    key, value = item
    return re.fullmatch("0|[1-9][0-9]{0,8}", key) is not None and type(value) is int


def _query_id(files: Files) -> str:
    return part(json_or_none(files.read("metadata").decode(errors="replace")), "id", str) or ""


def _store(match: re.Match[str]) -> Store:
    return Store(int(match["operator"]), int(match["partition"]), match["store"] or "default")


def _named(line: str, where: str) -> tuple[str, str]:
    match = NAMED_OFFSET.fullmatch(line)
    if not match:
        raise DamageError(f"{where}, which is not what Spark writes")
    return match[1], match[2]


def _source_offset(text: str, where: str) -> Any:
    """What a source noted: mostly JSON, but a source of somebody's own may write anything."""
    found = json_or_none(text)
    if not text or (found is None and text[0] in "{["):
        raise DamageError(f"{where}, which is cut short or not what Spark writes")
    return text if found is None else found


def _flat(stores: Iterable[Any]) -> Iterator[str]:
    for store in stores:
        if isinstance(store, str):
            yield store
        else:
            yield from _flat(store)


def _lines(content: bytes, where: str) -> list[str]:
    lines = content.decode(errors="replace").removesuffix("\n").split("\n")
    version = lines[0].strip()
    if re.fullmatch("v[1-9][0-9]*", version) and version not in FORMATS:
        raise DamageError(f"{where}, whose format {version} is newer than this tool")
    if version not in FORMATS:
        raise DamageError(f"{where}, which is not what Spark writes")
    return [version, *(line.removesuffix("\r") for line in lines[1:])]
