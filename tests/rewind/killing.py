"""Runs the command again and again, and kills it each time one file operation later.

python killing.py CHECKPOINT FOLDER WORDS...  leaves FOLDER/1, FOLDER/2, ... as the killed command left them; the last
one was not killed. The command runs in a forked child, which is sent SIGKILL just before its n-th change to the file
system: opening a file for writing, renaming, removing, making or removing a folder.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from .tools import link_tree, rewind

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}
WRITING = os.O_WRONLY | os.O_RDWR


def kill_before_change(number: int, folder: Path) -> None:
    """Kill this process when it is about to change the file system below a folder for the n-th time."""
    left = number

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        changes = event in CHANGES or (event == "open" and bool((arguments[2] or 0) & WRITING))
        if changes and str(arguments[0]).startswith(str(folder)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(listen)


def was_killed(number: int, folder: Path, words: list[str]) -> bool:
    """Whether the command was killed before its n-th change; otherwise it came to its end."""
    child = os.fork()
    if child == 0:
        kill_before_change(number, folder)
        answer = rewind(folder, *words, "--job-is-stopped")
        os._exit(answer.code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, f"the command failed: {words}"
    return False


def kill_everywhere(checkpoint: Path, folder: Path, words: list[str]) -> None:
    """One copy of the checkpoint for each moment at which the command can be killed."""
    number = 0
    killed = True
    while killed:
        number += 1
        link_tree(checkpoint, folder / str(number))
        killed = was_killed(number, folder / str(number), words)


def kill_again(folder: Path, words: list[str]) -> None:
    """Kill the command that finishes a killed one, too, each at another moment."""
    *copies, _ = sorted(folder.iterdir(), key=lambda copy: int(copy.name))
    for number, copy in enumerate(copies, start=1):
        was_killed(1 + number * 7 % len(copies), copy, words)


if __name__ == "__main__":
    # What a killed process has written is safe with the kernel; waiting for the disk would only make this slow.
    os.fsync = lambda _: None
    target = Path(sys.argv[2])
    if sys.argv[1] == "again":
        kill_again(target, sys.argv[3:])
    else:
        target.mkdir()
        kill_everywhere(Path(sys.argv[1]), target, sys.argv[3:])
