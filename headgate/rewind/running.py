"""Looks for signs that a query still runs on a checkpoint.

There is no certain way. Spark takes no lock, holds no file of the checkpoint open, and a query without new data may
write nothing for hours. So there are two signs, each good evidence of a query and neither proof of its absence:

- a Java or Python process of this machine that was given the checkpoint's path on its command line;
- a checkpoint that was written to a moment ago, a moment being three times its usual pause between batches, but at
  least half a minute and at most a quarter of an hour.

A query on another machine that has been idle for longer is not seen. Whoever knows better says so with
`--job-is-stopped`.
"""

import itertools
import os
import re
from pathlib import Path
from statistics import median

from headgate.rewind.checkpoint import BACKUPS, BATCH, STATE_FILE
from headgate.rewind.files import Files

SHORTEST_SECONDS = 30.0
LONGEST_SECONDS = 900.0
PAUSES = 3
LATEST_COMMITS = 10
JOB_PROCESS = re.compile(r"(java|python[0-9.]*|pyspark|spark-submit)$")


def sign_of_life(files: Files, now: float) -> str | None:
    """What suggests that a query still runs on the checkpoint, in words; nothing if all is quiet."""
    return _process_on(files.root) or _written_lately(files, now)


def _written_lately(files: Files, now: float) -> str | None:
    entries = files.listing(skip=BACKUPS)
    written = [entry for entry in entries if BATCH.fullmatch(entry.path) or STATE_FILE.fullmatch(entry.path)]
    if not written:
        return None
    newest = max(written, key=lambda entry: entry.modified)
    quiet = quiet_seconds([entry.modified for entry in written if entry.path.startswith("commits/")])
    age = now - newest.modified
    if age >= quiet:
        return None
    return f"{newest.path} was written {max(age, 0):.0f} s ago, and {quiet:.0f} s of silence are asked for"


def quiet_seconds(commit_times: list[float]) -> float:
    """How long a checkpoint with these commits must have been silent before it counts as quiet."""
    latest = sorted(commit_times)[-LATEST_COMMITS:]
    pauses = [later - earlier for earlier, later in itertools.pairwise(latest)]
    usual = median(pauses) if pauses else 0.0
    return min(max(PAUSES * usual, SHORTEST_SECONDS), LONGEST_SECONDS)


def _process_on(root: str, processes: Path = Path("/proc")) -> str | None:
    names = {root, str(Path(root).resolve())}
    ours = _ancestors(processes)
    for folder in processes.glob("[0-9]*"):
        if int(folder.name) in ours:
            continue
        words = _command_line(folder)
        if (
            words
            and JOB_PROCESS.search(words[0])
            and any(_names(word, names, _folder_of(folder)) for word in words[1:])
        ):
            return f"process {folder.name} ({Path(words[0]).name}) was started with this path"
    return None


def _names(word: str, roots: set[str], started_in: str) -> bool:
    value = word.rpartition("=")[2].removeprefix("file://").rstrip("/")
    return bool(value) and os.path.normpath(Path(started_in, value)) in roots


def _folder_of(process: Path) -> str:
    try:
        return str((process / "cwd").readlink())
    except OSError:
        return "/"


def _command_line(folder: Path) -> list[str]:
    try:
        return (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        # It ended in the meantime, or it is somebody else's.
        return []


def _ancestors(processes: Path) -> set[int]:
    """This process and those that started it: they name the checkpoint only because we were asked about it."""
    found = set()
    process = os.getpid()
    while process > 1 and process not in found:
        found.add(process)
        try:
            status = (processes / str(process) / "status").read_text()
        except OSError:
            break
        parent = re.search(r"^PPid:\s*(\d+)", status, re.MULTILINE)
        process = int(parent[1]) if parent else 0
    return found
