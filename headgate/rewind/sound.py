"""Says whether a file is still as Spark wrote it, as far as that can be seen without Spark.

What is compared: the checksums that Hadoop keeps beside a local file, the size in the checksum file that Spark 4.1 and
later keep beside theirs, the end mark of LZ4 (Spark's codec unless told otherwise), the checksums within a zip file.
"""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Container

from headgate.rewind.files import Entry, Files
from headgate.rewind.shapes import json_or_none, part

HADOOP_CHECKSUM = b"crc\0"
HADOOP_HEADER = 8
CHECKSUM_BYTES = 4
LZ4_BLOCK = b"LZ4Block"
LZ4_END_BYTES = 12
COMPRESSED = (".delta", ".snapshot", ".changelog")

UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
)
"What Python throws over a damaged zip file."

CUT_SHORT = "is cut short"
CHANGED = "differs from its checksum"


def flaw(files: Files, entry: Entry, present: Container[str], is_lz4: bool) -> str | None:
    """What is wrong with a file that Spark will read, as a part of a sentence; nothing when it looks sound."""
    if entry.size == 0:
        return "is empty"
    try:
        content = files.read(entry.path)
    except OSError as error:
        # Hadoop looks at its checksums itself, and does not show them.
        return f"cannot be read ({error})"
    return (
        _flaw_by_hadoop(files, entry.path, content, present)
        or _flaw_by_spark(files, entry, present)
        or _flaw_inside(entry.path, content, is_lz4)
    )


def files_of_zip(content: bytes) -> dict[str, int | None] | None:
    """The SST and log files that a RocksDB snapshot refers to, with their bytes; nothing when it cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            text = archive.read("metadata").decode()
    except UNREADABLE:
        return None
    found = json_or_none(text.partition("\n")[2])
    if not isinstance(found, dict):
        return None
    named: dict[str, int | None] = {}
    for kind, key in (("sstFiles", "dfsSstFileName"), ("logFiles", "dfsLogFileName")):
        for file in part(found, kind, list) or []:
            name = part(file, key, str)
            if name is None:
                return None
            named[name] = part(file, "sizeBytes", int)
    return named


def _flaw_by_hadoop(files: Files, path: str, content: bytes, present: Container[str]) -> str | None:
    folder, _, name = path.rpartition("/")
    beside = f"{folder}/.{name}.crc" if folder else f".{name}.crc"
    if beside not in present:
        return None
    sums = files.read(beside)
    length = int.from_bytes(sums[len(HADOOP_CHECKSUM) : HADOOP_HEADER], "big")
    if not sums.startswith(HADOOP_CHECKSUM) or not length:
        return f"has a damaged checksum file {beside}"
    chunks = range(0, len(content), length)
    right = b"".join(zlib.crc32(content[at : at + length]).to_bytes(CHECKSUM_BYTES, "big") for at in chunks)
    return None if sums[HADOOP_HEADER:] == right else CHANGED


def _flaw_by_spark(files: Files, entry: Entry, present: Container[str]) -> str | None:
    beside = f"{entry.path}.crc"
    # A zip without a unique id can have been written twice, and Spark does not look at its checksum for that reason.
    if beside not in present or (entry.path.endswith(".zip") and "_" not in entry.path.rpartition("/")[2]):
        return None
    size = part(json_or_none(files.read(beside).decode(errors="replace")), "mainFileSize", int)
    if size is None:
        return f"has a damaged checksum file {beside}"
    return None if size == entry.size else CHANGED


def _flaw_inside(path: str, content: bytes, is_lz4: bool) -> str | None:
    if path.endswith(".zip"):
        return _flaw_of_zip(content)
    if path.endswith(COMPRESSED):
        if content.startswith(LZ4_BLOCK):
            end = content[-len(LZ4_BLOCK) - 1 - LZ4_END_BYTES :]
            whole = end.startswith(LZ4_BLOCK) and end.endswith(bytes(LZ4_END_BYTES))
            return None if whole else CUT_SHORT
        return "is not what Spark writes" if is_lz4 else None
    if path.endswith("/_metadata/schema"):
        return None if _is_whole_schema(content) else CUT_SHORT
    if "/_metadata/" in path:
        return (
            None if isinstance(json_or_none(content.decode(errors="replace").partition("\n")[2]), dict) else CUT_SHORT
        )
    return None


def _is_whole_schema(content: bytes) -> bool:
    """Whether the schemas of key and value are there: in v1 a text each, in v2 in pieces, their number first."""
    version, at = _text(content, 0)
    if version not in (b"v1", b"v2"):
        return True
    for _ in ("key", "value"):
        pieces = 1
        if version == b"v2":
            pieces = int.from_bytes(content[at : at + 4], "big")
            at += 4
        for _ in range(min(pieces, len(content))):
            _, at = _text(content, at)
    return at <= len(content)


def _text(content: bytes, at: int) -> tuple[bytes, int]:
    """What Java's writeUTF wrote at a place, and where it ends."""
    end = at + 2 + int.from_bytes(content[at : at + 2], "big")
    return content[at + 2 : end], end


def _flaw_of_zip(content: bytes) -> str | None:
    if files_of_zip(content) is None:
        return "is not a RocksDB snapshot that Spark wrote"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            broken = archive.testzip()
    except UNREADABLE:
        broken = "a file"
    return f"holds {broken} in a damaged form" if broken else None
