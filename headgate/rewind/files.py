"""Access to the files below one folder, wherever that folder is.

All paths are relative to the folder and written with forward slashes.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

DRAFT = ".draft"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class Entry(NamedTuple):
    """One file: where it is, its bytes, and when it was last written (seconds since 1970)."""

    path: str
    size: int
    modified: float


class Files(ABC):
    """A folder's files; `listing` leaves `skip` out."""

    root: str

    @abstractmethod
    def listing(self, folder: str = "", skip: str = "") -> list[Entry]:
        """Every file at any depth below `folder`; none when there is no such folder."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole file."""

    @abstractmethod
    def write(self, path: str, content: bytes) -> None:
        """Put a whole file in place at once, over an older one if need be."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Rename a file within the file system; the target must not exist."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove one file."""

    @abstractmethod
    def remove_empty_folders(self, folder: str) -> None:
        """Remove the folders below `folder`, and itself, that hold no file."""

    @abstractmethod
    def settle(self, paths: Iterable[str]) -> None:
        """Make sure that the moves from and to these files survive a power cut."""


class LocalFiles(Files):
    """Files of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self._root = root

    def listing(self, folder: str = "", skip: str = "") -> list[Entry]:
        start = self._root / folder
        return sorted(self._walk(start, skip)) if start.is_dir() else []

    def _walk(self, folder: Path, skip: str) -> Iterator[Entry]:
        with os.scandir(folder) as found:
            for item in found:
                if item.is_dir():
                    if item.name != skip:
                        yield from self._walk(Path(item.path), skip)
                else:
                    status = item.stat()
                    path = Path(item.path).relative_to(self._root).as_posix()
                    yield Entry(path, status.st_size, status.st_mtime)

    def exists(self, path: str) -> bool:
        return (self._root / path).exists()

    def read(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(target.name + DRAFT)
        with draft.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(target)
        _fsync(target.parent)

    def move(self, source: str, target: str) -> None:
        there = self._root / target
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.exists():
            raise FileExistsError(f"{there} exists already")
        (self._root / source).rename(there)

    def remove(self, path: str) -> None:
        (self._root / path).unlink()

    def remove_empty_folders(self, folder: str) -> None:
        start = self._root / folder
        if not start.is_dir():
            return
        for inner in start.iterdir():
            if inner.is_dir():
                self.remove_empty_folders(inner.relative_to(self._root).as_posix())
        if not any(start.iterdir()):
            start.rmdir()

    def settle(self, paths: Iterable[str]) -> None:
        for folder in {(self._root / path).parent for path in paths}:
            if folder.is_dir():
                _fsync(folder)


def open_files(location: str) -> Files:
    """The files at a plain path, read directly, or at a URI, read through Hadoop's FileSystem."""
    if SCHEME.match(location):
        # Only here: Hadoop means a JVM, and seconds that a local rewind need not wait.
        from headgate.rewind.hadoop import HadoopFiles

        return HadoopFiles(location)
    return LocalFiles(Path(location).absolute())


def _fsync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
