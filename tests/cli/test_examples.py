"""The example of each job's help does what it says."""

import io
import os
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from .commands import NAMES, ROOT, example_of

SECONDS = 240
FOLDERS = ("visits_table", "early_writer_checkpoint")
SHOWN = {
    "early-writer": "|1       |1            |false      |",
    "micro-batch-consumer": "Printing visit=Row(visit_id=",
    "visits-windows-counter": "|{2025-09-04 07:00:00, 2025-09-04 07:10:00}|1    |",
    "visits-counter": '"count":1}',
    "data-synchronization": '"batch": 0',
    "visits-counter-reprocessing": "Published 1 windows",
    "browser-stats-stateless": '"browser":"Firefox"',
    "browser-stats-stateful": '"browser":"Firefox"',
    "visits-generator": '"event_time"',
    "rewind-checkpoint": "Nothing has been changed. Add --apply to do it.",
    "jars": "spark-sql-kafka",
}


@pytest.fixture
def shell(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess]:
    """Runs a command line in which `headgate` is this code."""
    (tmp_path / "headgate").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m headgate "$@"\n')
    (tmp_path / "headgate").chmod(0o755)
    found = {"PYTHONPATH": str(ROOT), "HEADGATE_PROJECT": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment = {**os.environ, **found}

    def run(line: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["sh", "-e", "-c", line], cwd=tmp_path, env=environment, capture_output=True, timeout=SECONDS, check=False
        )

    return run


@pytest.fixture
def _at_hand(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The run's Spark takes the place of the one that each job would start for itself."""

    @contextmanager
    def session_of(job: object, options: Namespace, settings: dict[str, str], mask: object) -> Iterator[SparkSession]:
        session = spark.newSession()
        for key, value in settings.items():
            if key.startswith("spark.sql."):
                session.conf.set(key, value)
        yield session

    monkeypatch.setattr("jobs.command.runner.session_of", session_of)
    monkeypatch.chdir(tmp_path)


def test_no_example_is_forgotten() -> None:
    runs_until_stopped = {"broker"}
    assert set(SHOWN) == set(NAMES) - runs_until_stopped


def commands(example: str) -> list[str]:
    return example.replace("\\\n", " ").replace("\n ", " ").splitlines()


@pytest.mark.usefixtures("_at_hand")
@pytest.mark.parametrize("name", SHOWN)
def test_the_example_shows_what_the_job_does(
    name: str,
    command: Callable[..., int],
    shell: Callable,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    for line in commands(example_of(name)):
        feeder, _, consumer = line.rpartition("|")
        records = shell(feeder).stdout if feeder else b""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(records)))
        headgate, *words = shlex.split(consumer)
        assert headgate == "headgate"
        # The run's Java was started in another folder.
        words = [str(tmp_path / word) if word in FOLDERS else word for word in words]
        assert command(*words) == 0, capfd.readouterr().err
    assert SHOWN[name] in "".join(capfd.readouterr())


def test_an_example_works_as_pasted(shell: Callable) -> None:
    run = shell(example_of("rewind-checkpoint"))
    assert run.returncode == 0, run.stderr
    assert SHOWN["rewind-checkpoint"].encode() in run.stdout
