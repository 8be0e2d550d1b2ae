"""What several tests need."""

import argparse
import contextlib
import io
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from headgate.rewind.checkpoint import BACKUPS
from headgate.rewind.command import add_arguments, run


class Answer(NamedTuple):
    """What the command said."""

    code: int
    out: str
    error: str


def rewind(*words: object) -> Answer:
    """Run the command as the main program would."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args([str(word) for word in words])
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run(options)
    return Answer(code, " ".join(out.getvalue().split()), error.getvalue())


def apply(checkpoint: Path | str, batch: int, *more: str) -> None:
    """Rewind for real, and insist that it worked."""
    answer = rewind(checkpoint, "--to-batch", batch, "--apply", "--job-is-stopped", *more)
    assert answer.code == 0, answer.error


def refused(answer: Answer) -> str:
    """The one sentence of a refusal."""
    assert answer.code == 2, answer
    assert answer.error.count("\n") == 1
    assert "Traceback" not in answer.error
    return answer.error


def link_tree(source: Path, target: Path) -> Path:
    """A copy that shares its files: enough for a command that moves and replaces files but never writes into one."""
    shutil.copytree(source, target, copy_function=os.link)
    return target


def tree(checkpoint: Path) -> dict[str, bytes]:
    """Every file of a checkpoint, without the backups of rewinds."""
    files = (path for path in checkpoint.rglob("*") if path.is_file())
    found = {path.relative_to(checkpoint).as_posix(): path.read_bytes() for path in files}
    return {path: content for path, content in found.items() if not path.startswith(f"{BACKUPS}/")}


def backups(checkpoint: Path) -> dict[str, bytes]:
    """Every file that rewinds have put aside."""
    files = (path for path in (checkpoint / BACKUPS).rglob("*") if path.is_file())
    return {path.relative_to(checkpoint).as_posix(): path.read_bytes() for path in files}
