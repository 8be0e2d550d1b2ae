"""A shell's view of the jobs: topics to work on, and `headgate` as a process of its own."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from headgate.command.cli import main
from headgate.kafka.kafka import Kafka
from headgate.spark.queries import RunningJob
from jobs.command.arguments import parse, session_settings
from jobs.command.job import StreamingJob

from .commands import ROOT, find_job

SECONDS = 120


@dataclass
class Topics:
    """Topics of one test on a broker."""

    address: str

    def __post_init__(self) -> None:
        self.admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        self.producer = Producer({"bootstrap.servers": self.address, "log_level": 0})

    def make(self, name: str = "visits") -> str:
        """A fresh topic with a name of its own."""
        real = f"{name}-{uuid.uuid4().hex[:8]}"
        self._settle(self.admin.create_topics([NewTopic(real, 1, 1)]))
        return real

    def send(self, topic: str, *values: str) -> None:
        """Send the values and wait until the broker has them."""
        for value in values:
            self.producer.produce(topic, value)
        assert self.producer.flush(SECONDS) == 0

    def remove(self, topic: str) -> None:
        """Delete the topic."""
        self._settle(self.admin.delete_topics([topic]))

    def forget_records_before(self, topic: str, offset: int) -> None:
        """What retention does."""
        self._settle(self.admin.delete_records([TopicPartition(topic, 0, offset)]))

    def names(self) -> set[str]:
        """The topics that there are."""
        return set(self.admin.list_topics(timeout=SECONDS).topics)

    def _settle(self, futures: dict) -> None:
        for future in futures.values():
            future.result(SECONDS)


@pytest.fixture
def topics(kafka: Kafka) -> Topics:
    """Topics on the run's Kafka."""
    return Topics(kafka.address)


class Process:
    """A `headgate` that runs in a process group of its own, as a shell starts it."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str], given: bytes | None) -> None:
        self.out_file, self.err_file = folder / "stdout", folder / "stderr"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "headgate", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HEADGATE_PROJECT": str(ROOT), **environment},
            stdin=subprocess.PIPE,
            stdout=self.out_file.open("wb"),
            stderr=self.err_file.open("wb"),
            start_new_session=True,
        )
        self._process.stdin.write(given or b"")
        self._process.stdin.close()

    @property
    def out(self) -> str:
        return self.out_file.read_text()

    @property
    def err(self) -> str:
        return self.err_file.read_text()

    def press_ctrl_c(self) -> None:
        """A terminal sends SIGINT to the whole group."""
        os.killpg(self._process.pid, signal.SIGINT)

    def terminate(self) -> None:
        self._process.terminate()

    def code(self) -> int:
        """Wait for the end."""
        return self._process.wait(SECONDS)

    def wait_for(self, text: str) -> None:
        """Wait until it has printed this."""
        deadline = time.monotonic() + SECONDS
        while text not in self.out:
            assert self._process.poll() is None, f"it has ended: {self.err}"
            assert time.monotonic() < deadline, f"'{text}' was not printed: {self.out}{self.err}"
            time.sleep(0.1)

    def end(self) -> None:
        """Leave nothing behind."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(SECONDS)


@pytest.fixture
def headgate(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts `headgate` with the words."""
    started = []

    def start(*words: str, given: bytes | None = None, **environment: str) -> Process:
        folder = tmp_path / f"run-{len(started)}"
        folder.mkdir()
        started.append(Process(list(words), folder, environment, given))
        return started[-1]

    yield start
    for process in started:
        process.end()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Does in this process what `headgate` does with the words, and gives the exit code."""

    def run_here(python: str, line: list[str], environment: dict[str, str]) -> NoReturn:
        _, option, program, *words = line
        assert option == "-c"
        monkeypatch.setattr(sys, "argv", [option, *words])
        exec(program, {})
        raise AssertionError("the program has not ended with an exit code")

    monkeypatch.setattr(os, "execve", run_here)
    monkeypatch.setenv("HEADGATE_PROJECT", str(ROOT))
    return lambda *words: main(words)


@pytest.fixture
def start_job(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., RunningJob]]:
    """Starts a job inside this process; `show`, if there is one, takes the place of printing its batches."""
    started: list[RunningJob] = []

    def start(name: str, *words: str, show: Callable[..., None] | None = None) -> RunningJob:
        job = find_job(name)
        if show is not None:
            monkeypatch.setattr(f"jobs.{name.replace('-', '_')}.print_batch", show)
        assert isinstance(job, StreamingJob)
        options = parse(job, ["--checkpoint", str(tmp_path / "checkpoint"), *words])
        session = spark.newSession()
        for key, value in session_settings(job, options).items():
            session.conf.set(key, value)
        started.append(job.start(session, options))
        return started[-1]

    yield start
    for running in started:
        running.stop(grace=5)


@pytest.fixture
def make_topics() -> Callable[[str], Topics]:
    """Topics on another broker than the run's."""
    return Topics
