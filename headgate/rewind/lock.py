"""Lets one rewind at a time work on a checkpoint.

A lock is a file in the backups' folder that says who holds it. On a local path the operating system frees it when its
owner ends, however that happens. Behind a URI the file itself is the lock: it is taken over when it names a process of
this machine that has ended; whether a process of another machine has, only a person can tell.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from headgate.rewind.checkpoint import BACKUPS
from headgate.rewind.errors import RefusalError
from headgate.rewind.files import Files
from headgate.rewind.shapes import json_or_none, part

LOCK = f"{BACKUPS}/lock"
START_FIELD = 18
"Where Linux says when a process began, counted from behind its name and its state."
ENDED = ("Z", "X")


@contextmanager
def alone(files: Files) -> Iterator[None]:
    """Keep every other rewind away from the checkpoint; refused when there is one already."""
    holder = files.lock(LOCK, _this_process(), may_be_alive)
    if holder is not None:
        raise RefusalError(
            f"{files.root}: another rewind is at work on it ({_told(holder)}); let it end, and give the command again "
            f"(should that process be gone for good, remove {LOCK})."
        )
    try:
        yield
    finally:
        files.unlock(LOCK)


def refuse_if_at_work(files: Files) -> None:
    """Tell a rewind that is under way from one that was cut short."""
    with alone(files):
        pass


def may_be_alive(owner: str) -> bool:
    """Whether the process that wrote a lock can still be at work."""
    found = json_or_none(owner)
    process = part(found, "process", int)
    if process is None or part(found, "host", str) != socket.gethostname():
        return True
    # What this process holds is not asked about: a lock in its name is one that it has left behind.
    return process != os.getpid() and beginning_of(process) == part(found, "began", str)


def _this_process() -> str:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    process = os.getpid()
    return json.dumps({"host": socket.gethostname(), "process": process, "began": beginning_of(process), "since": now})


def beginning_of(process: int) -> str | None:
    """When a process was started, as its system counts; nothing when it is no more."""
    if not Path("/proc/self/stat").exists():
        return _signalled(process)
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in ENDED else fields[START_FIELD]


def _signalled(process: int) -> str | None:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except OSError:
        # It is somebody else's: not ours to signal, but there.
        return ""
    return ""


def _told(owner: str) -> str:
    found = json_or_none(owner)
    process, host, since = part(found, "process", int), part(found, "host", str), part(found, "since", str)
    return f"process {process} on {host}, since {since}" if process and host else "it does not say which"
