"""Checkpoints as small trees of text, in the shapes that Spark has given them over the years."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LZ4_END = b"LZ4Block\x15" + bytes(12)
COMPRESSED = b"LZ4Block\x15" + bytes([4, 0, 0, 0, 4, 0, 0, 0]) + b"\xdb\x80\x4d\x08" + b"\xff" * 4 + LZ4_END
JOIN_STORES = ("left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue")
MINUTE = 60_000

Tree = dict[str, bytes]


@dataclass(frozen=True)
class Shape:
    """What a version of Spark writes: which logs, with which settings in them, and which state."""

    commits: bool = True
    watermark_in_commits: bool = True
    settings: bool = True
    stores: tuple[str, ...] = ("",)
    partitions: int = 2
    kinds: tuple[str, ...] = ("delta",)
    unique_ids: bool = False
    named_sources: bool = False
    schema_keys: str | None = None
    checksums: bool = True


SHAPES = {
    "2.1, no commits, no settings": Shape(commits=False, settings=False),
    "2.1, checksums lost on the way": Shape(commits=False, settings=False, checksums=False),
    "2.3, commits without a watermark": Shape(watermark_in_commits=False),
    "2.4, stateless": Shape(stores=()),
    "2.4, a join": Shape(stores=JOIN_STORES),
    "3.1, snapshots": Shape(kinds=("delta", "snapshot")),
    "3.2, RocksDB": Shape(kinds=("zip",)),
    "3.5, RocksDB with changelogs": Shape(kinds=("changelog", "zip")),
    "4.0, with a schema": Shape(schema_keys="integer"),
    "4.0, a limit has one partition": Shape(schema_keys="void"),
    "4.0, format 2": Shape(kinds=("zip",), unique_ids=True),
    "4.0, format 2, a join with changelogs": Shape(kinds=("changelog", "zip"), unique_ids=True, stores=JOIN_STORES),
    "4.2, sources by name": Shape(named_sources=True),
}


def plant(folder: Path, shape: Shape, batches: int = 5) -> Path:
    """Write a checkpoint of so many batches, all of them committed where that is written down."""
    tree = dict(_tree(shape, batches))
    if shape.checksums:
        tree |= {checksum_path(path): checksum(content) for path, content in tree.items()}
    for path, content in tree.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def damage(file: Path, content: bytes | str | None) -> None:
    """Change or remove a file behind the back of its checksum, as a torn write or another tool does."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    if content is None:
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def offsets(batch: int, conf: Mapping[str, str] | None = None, watermark: int = 0, named: bool = False) -> str:
    about: dict[str, object] = {"batchWatermarkMs": watermark, "batchTimestampMs": 1_500_000_000_000}
    about |= {} if conf is None else {"conf": dict(conf)}
    sources = [json.dumps({"clicks": {"0": 10 * batch, "1": 5 * batch}}), json.dumps({"logOffset": batch})]
    lines = [f"{name}:{offset}" for name, offset in zip(("clicks", "files"), sources, strict=True)]
    return "\n".join(["v2" if named else "v1", json.dumps(about), *(lines if named else sources)])


def snapshot(names: Mapping[str, int]) -> bytes:
    """A RocksDB snapshot that refers to these SST files of so many bytes."""
    found = [{"localFileName": name, "dfsSstFileName": name, "sizeBytes": size} for name, size in names.items()]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        # With the time of now in it, tests beside each other would have other names.
        archive.writestr(zipfile.ZipInfo("metadata"), "v1\n" + json.dumps({"sstFiles": found, "numKeys": 1}))
    return content.getvalue()


def checksum_path(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


def checksum(content: bytes) -> bytes:
    """What Hadoop keeps beside a local file."""
    return (
        b"crc\0"
        + struct.pack(">I", 512)
        + b"".join(struct.pack(">I", zlib.crc32(content[at : at + 512])) for at in range(0, len(content), 512))
    )


def _tree(shape: Shape, batches: int) -> Iterator[tuple[str, bytes]]:
    yield "metadata", b'{"id":"b071949a-c7f9-4d1b-a1a7-d5f1a3a1c1b5"}'
    yield "sources/0/0", b'v1\n{"clicks":{"0":0,"1":0}}'
    conf = {"spark.sql.shuffle.partitions": str(shape.partitions)} if shape.settings else None
    for batch in range(batches):
        watermark = batch * MINUTE
        yield f"offsets/{batch}", offsets(batch, conf, watermark, shape.named_sources).encode()
        if shape.commits:
            yield f"commits/{batch}", _commit(shape, batch).encode()
        for partition in range(1 if shape.schema_keys == "void" else shape.partitions):
            yield from _state(shape, partition, batch + 1)
    if shape.schema_keys:
        yield "state/0/_metadata/metadata", b'v1\n{"operatorInfo":{"operatorId":0,"operatorName":"some"}}'
        yield "state/0/0/_metadata/schema", _schema(shape.schema_keys)


def _commit(shape: Shape, batch: int) -> str:
    found: dict[str, object] = {"nextBatchWatermarkMs": (batch + 1) * MINUTE} if shape.watermark_in_commits else {}
    if shape.unique_ids:
        ids = [[_unique_id(batch + 1, partition)] * len(shape.stores) for partition in range(shape.partitions)]
        found["stateUniqueIds"] = {"0": ids}
    return f"{'v2' if shape.unique_ids else 'v1'}\n{json.dumps(found)}"


def _state(shape: Shape, partition: int, version: int) -> Iterator[tuple[str, bytes]]:
    unique_id = f"_{_unique_id(version, partition)}" if shape.unique_ids else ""
    for store in shape.stores:
        folder = "/".join(filter(None, ("state/0", str(partition), store)))
        for kind in shape.kinds:
            # Where there are differences, whole state comes now and then.
            if len(shape.kinds) > 1 and kind in ("zip", "snapshot") and version % 3:
                continue
            sst = f"{version:06}-{partition}.sst"
            yield f"{folder}/{version}{unique_id}.{kind}", snapshot({sst: 7}) if kind == "zip" else COMPRESSED
            if kind == "zip":
                yield f"{folder}/SSTs/{sst}", b"sorted\n"


def _unique_id(version: int, partition: int) -> str:
    return f"{version:08}-0000-0000-0000-{partition:012}"


def _schema(key: str) -> bytes:
    texts = [
        json.dumps({"type": "struct", "fields": [{"name": "f", "type": kind}]}, separators=(",", ":"))
        for kind in (key, "long")
    ]
    return b"\0\2v2" + b"".join(struct.pack(">IH", 1, len(text)) + text.encode() for text in texts)
