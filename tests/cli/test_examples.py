"""The example of each job's help does what it says, as pasted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.catalog import find_job

SECONDS = 240
ROOT = Path(__file__).parents[2]
SHOWN = {
    "visits-counter": '"count":1}',
    "visits-counter-reprocessing": "Published 1 windows",
    "rewind-checkpoint": "Nothing has been changed. Add --apply to do it.",
    "visits-generator": '"event_time"',
    "micro-batch-consumer": "Printing visit=Row(visit_id=",
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_works_as_pasted(name: str, tmp_path: Path) -> None:
    (tmp_path / "sluice").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jobs "$@"\n')
    (tmp_path / "sluice").chmod(0o755)
    run = subprocess.run(
        ["sh", "-e", "-c", find_job(name).example],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert SHOWN[name] in run.stdout + run.stderr
