"""Files behind a URI (hdfs:, s3a:, abfss:, file:, ...), through the FileSystem that Spark itself would use."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from py4j.protocol import Py4JJavaError

from headgate.errors import SandboxError
from headgate.rewind.errors import FailureError
from headgate.rewind.files import DRAFT, Entry, Files

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def _plainly(method: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Turn what Java throws into the error that a local file would give."""

    @wraps(method)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        try:
            return method(*arguments, **named)
        except Py4JJavaError as error:
            raise OSError(_reason(error)) from None

    return call


class HadoopFiles(Files):
    """Files of any Hadoop file system; its settings are those of the Spark session."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")
        self._jvm, conf = _jvm_and_conf()
        try:
            self._system: Any = self._path("").getFileSystem(conf)
            self._prefix = str(self._system.makeQualified(self._path("")).toUri().getPath()).rstrip("/") + "/"
        except Py4JJavaError as error:
            raise FailureError(
                f"{self.root} cannot be reached ({_reason(error)}): correct the address or add its jars."
            ) from None

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.root}/{path}" if path else self.root)

    @_plainly
    def listing(self, folder: str = "", skip: str = "") -> list[Entry]:
        start = self._path(folder)
        if not self._system.exists(start):
            return []
        entries: list[Entry] = []
        waiting = [start]
        while waiting:
            for status in self._system.listStatus(waiting.pop()):
                where = status.getPath()
                if status.isDirectory():
                    if where.getName() != skip:
                        waiting.append(where)
                else:
                    path = str(where.toUri().getPath()).removeprefix(self._prefix)
                    entries.append(Entry(path, status.getLen(), status.getModificationTime() / 1000))
        return sorted(entries)

    @_plainly
    def exists(self, path: str) -> bool:
        return bool(self._system.exists(self._path(path)))

    @_plainly
    def read(self, path: str) -> bytes:
        stream = self._system.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    @_plainly
    def write(self, path: str, content: bytes) -> None:
        target = self._path(path)
        draft = self._path(path + DRAFT)
        if self._system.exists(draft) and not self._system.exists(target):
            # Killed between the two last lines of this method: the draft is all there is.
            self._rename(draft, target)
        stream = self._system.create(draft, True)
        try:
            stream.write(bytearray(content))
            stream.hsync()
        finally:
            stream.close()
        # FileSystem.rename does not replace. Whoever finds the draft alone after a crash can read it instead.
        if self._system.exists(target):
            self._system.delete(target, False)
        self._rename(draft, target)

    @_plainly
    def move(self, source: str, target: str) -> None:
        there = self._path(target)
        self._system.mkdirs(there.getParent())
        if self._system.exists(there):
            raise FileExistsError(f"{there} exists already")
        self._rename(self._path(source), there)

    def _rename(self, source: Any, target: Any) -> None:
        if not self._system.rename(source, target):
            raise OSError(f"{source} could not be renamed to {target}")

    @_plainly
    def remove(self, path: str) -> None:
        self._system.delete(self._path(path), False)

    @_plainly
    def remove_empty_folders(self, folder: str) -> None:
        start = self._path(folder)
        if self._system.exists(start) and not self.listing(folder):
            self._system.delete(start, True)
        elif self._system.exists(start):
            for status in self._system.listStatus(start):
                if status.isDirectory():
                    self.remove_empty_folders(f"{folder}/{status.getPath().getName()}")

    @_plainly
    def why_unmovable(self, folders: Iterable[str]) -> str | None:
        write = self._jvm.org.apache.hadoop.fs.permission.FsAction.WRITE_EXECUTE
        for folder in sorted(set(folders)):
            where = self._path(folder)
            if not self._system.exists(where):
                continue
            try:
                self._system.access(where, write)
            except Py4JJavaError as error:
                return f"{where} must not be written to ({_reason(error)})"
        return None

    @_plainly
    def lock(self, path: str, owner: str, may_be_alive: Callable[[str], bool]) -> str | None:
        with _one_of_this_machine(self.root):
            if self._system.exists(self._path(path)):
                holder = self.read(path).decode(errors="replace")
                if may_be_alive(holder):
                    return holder
                self.remove(path)
            try:
                stream = self._system.create(self._path(path), False)
            except Py4JJavaError:
                # Another machine was faster.
                return self.read(path).decode(errors="replace")
            stream.write(bytearray(owner.encode()))
            stream.close()
        return None

    @_plainly
    def unlock(self, path: str) -> None:
        folder = self._path(path).getParent()
        self._system.delete(self._path(path), False)
        if self._system.exists(folder) and not self._system.listStatus(folder):
            self._system.delete(folder, False)

    def settle(self, paths: Iterable[str]) -> None:
        """Nothing to do: a rename is durable when a distributed file system acknowledges it."""


@contextmanager
def _one_of_this_machine(root: str) -> Iterator[None]:
    """Only one process of this machine at a time looks whether a lock is free, and takes it."""
    name = hashlib.sha256(f"{os.getuid()} {root}".encode()).hexdigest()
    with (Path(tempfile.gettempdir()) / f"headgate-rewind-{name}.lock").open("a") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        yield


def _jvm_and_conf() -> tuple[Any, Any]:
    # Only here: importing pyspark takes a while, and a local rewind does not need it.
    from headgate.spark.session import spark_session

    try:
        spark: Any = spark_session("rewind-checkpoint", "local[1]", {})
    except SandboxError as error:
        raise FailureError(str(error)) from None
    return spark._jvm, spark._jsc.hadoopConfiguration()


def _reason(error: Py4JJavaError) -> str:
    return (str(error.java_exception.getMessage()).splitlines() or ["no reason given"])[0]
