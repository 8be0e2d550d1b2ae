"""Access to the files below one folder, wherever that folder is.

All paths are relative to the folder and written with forward slashes.
"""

import fcntl
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from headgate.rewind.errors import RefusalError

DRAFT = ".draft"
LOCK_BYTES = 4096
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

    @abstractmethod
    def why_unmovable(self, folders: Iterable[str]) -> str | None:
        """Why files could not be moved between those of these folders that are there, in words; nothing if they can."""

    @abstractmethod
    def lock(self, path: str, owner: str, may_be_alive: Callable[[str], bool]) -> str | None:
        """Make a file that only one process can hold, and write its owner into it; gives the owner it has already."""

    @abstractmethod
    def unlock(self, path: str) -> None:
        """Give the file up, and its folder when nothing else is in it."""


class LocalFiles(Files):
    """Files of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self._root = root
        self._held: dict[str, int] = {}

    def listing(self, folder: str = "", skip: str = "") -> list[Entry]:
        start = self._root / folder
        return sorted(self._walk(start, skip)) if start.is_dir() else []

    def _walk(self, folder: Path, skip: str) -> Iterator[Entry]:
        with os.scandir(folder) as found:
            for item in found:
                if item.is_symlink():
                    # What is behind it may be elsewhere, or in here a second time.
                    raise RefusalError(
                        f"{item.path} is a link, and files can only be moved where they are: replace it by what it "
                        "points to, or link to the whole checkpoint instead."
                    )
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
        try:
            with draft.open("wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            draft.replace(target)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
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

    def why_unmovable(self, folders: Iterable[str]) -> str | None:
        device = self._root.stat().st_dev
        for folder in sorted(set(folders)):
            where = self._root / folder
            if not where.exists():
                continue
            if where.stat().st_dev != device:
                return f"{where} is on another file system"
            if not os.access(where, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
                return f"{where} must not be written to"
        return None

    def lock(self, path: str, owner: str, may_be_alive: Callable[[str], bool]) -> str | None:
        target = self._root / path
        while True:
            target.parent.mkdir(exist_ok=True)
            try:
                handle = os.open(target, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:
                # The one before has just tidied up.
                continue
            is_ours = _is_ours(handle)
            holder = os.pread(handle, LOCK_BYTES, 0).decode(errors="replace")
            # Whoever came by way of a URI, or from another machine, holds it by the file's being there.
            if not is_ours or (holder and may_be_alive(holder)):
                os.close(handle)
                return holder
            if _is_at(handle, target):
                break
            os.close(handle)
        os.ftruncate(handle, 0)
        os.pwrite(handle, owner.encode(), 0)
        self._held[path] = handle
        return None

    def unlock(self, path: str) -> None:
        target = self._root / path
        target.unlink(missing_ok=True)
        os.close(self._held.pop(path))
        if target.parent.is_dir() and not any(target.parent.iterdir()):
            target.parent.rmdir()


def open_files(location: str) -> Files:
    """The files at a plain path, read directly, or at a URI, read through Hadoop's FileSystem."""
    if SCHEME.match(location):
        # Only here: Hadoop means a JVM, and seconds that a local rewind need not wait.
        from headgate.rewind.hadoop import HadoopFiles

        return HadoopFiles(location)
    return LocalFiles(Path(location).absolute())


def _is_ours(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _fsync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
