"""The commands of README's "Run a job" are documentation, so they must work as pasted."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.kafka.kafka import answers_within

ROOT = Path(__file__).parent.parent
PORT_IN_README = "29092"
BLOCK = re.compile(r"<!-- tests/test_readme.py runs these commands -->\n```console\n(.*?)```", re.DOTALL)

SHOWN = {
    "--help": "visits counter reprocessing",
    "early-writer": "|1       |1            |false      |",
    "rewind-checkpoint": "to batch 0",
    "visits-generator --count": "visit_id",
    "visits-generator --kafka": "100",
    "micro-batch-consumer": "✍️ Printing visits\nPartition[0] > Printing visit=Row(visit_id='",
    "data-synchronization": '"rows_in": 100',
}


def blocks() -> list[list[str]]:
    found = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return [[line.removeprefix("$ ") for line in block.splitlines()] for block in found]


def test_readme_has_commands() -> None:
    assert [len(block) for block in blocks()] == [4, 4]


@pytest.mark.parametrize("block", blocks(), ids=["a Kafka of its own", "a Kafka that stays"])
def test_commands_work_as_pasted(block: list[str], tmp_path: Path) -> None:
    port = _free_port()
    with _in_background([command for command in block if command.endswith("&")], port, tmp_path):
        for command in block:
            if not command.endswith("&"):
                _check(command.replace(PORT_IN_README, port), tmp_path)


def _check(command: str, folder: Path) -> None:
    run = subprocess.run(
        command, shell=True, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=180, check=False
    )
    assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"
    expected = next(text for words, text in SHOWN.items() if words in command)
    assert expected in run.stdout + run.stderr, f"{command}\n{run.stdout}\n{run.stderr}"


@contextmanager
def _in_background(commands: list[str], port: str, folder: Path) -> Iterator[None]:
    started = [
        subprocess.Popen(
            ["bash", "-c", f"exec {command.removesuffix('&').replace(PORT_IN_README, port)}"],
            cwd=folder,
            env=_environment(),
        )
        for command in commands
    ]
    try:
        assert not started or _has_topic(f"127.0.0.1:{port}")
        yield
    finally:
        for process in started:
            process.terminate()
            assert process.wait(timeout=30) == 0


def _has_topic(address: str) -> bool:
    from confluent_kafka.admin import AdminClient

    assert answers_within(address, 60)
    admin = AdminClient({"bootstrap.servers": address})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if "visits" in admin.list_topics(timeout=5).topics:
            return True
    return False


def _environment() -> dict[str, str]:
    found = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HEADGATE_PROJECT": str(ROOT)}
    return {**os.environ, **found}


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
