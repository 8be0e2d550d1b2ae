"""The embedded broker's life: it answers, survives an outage of its own, and never outlives its owner."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headgate.errors import SandboxError
from headgate.kafka.choose import choose_kafka
from headgate.kafka.embedded import EmbeddedKafka
from headgate.kafka.kafka import answers_within, own_kafka
from headgate.stage.topic import Event, Topic

OWNER = """
import sys
from headgate.kafka.embedded import EmbeddedKafka
kafka = EmbeddedKafka()
print(kafka.address, flush=True)
sys.stdin.read()
"""


def _goes_away(address: str, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not answers_within(address, 0.5):
            return True
    return False


def test_data_outlives_an_outage() -> None:
    kafka = EmbeddedKafka()
    try:
        topic = Topic("events", "events", kafka.address)
        topic.create(30)
        topic.send([Event(b"before")], 30)
        kafka.pause()
        assert not answers_within(kafka.address, 1)
        kafka.resume()
        topic.send([Event(b"after")], 30)
        assert [message.value() for message in topic.read_on(30)] == [b"before", b"after"]
    finally:
        kafka.stop()
    assert not answers_within(kafka.address, 1)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_dies_with_its_owner(how: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    try:
        assert owner.stdout is not None
        address = owner.stdout.readline().strip()
        assert answers_within(address, 10)
        os.kill(owner.pid, how)
        owner.wait(timeout=30)
        assert _goes_away(address)
    finally:
        owner.kill()
        owner.communicate()


def test_no_broker_at_that_address() -> None:
    with pytest.raises(SandboxError, match="No Kafka answers at 127.0.0.1:1 .* Start it, correct the address"):
        own_kafka("127.0.0.1:1", wait_seconds=1)


def test_unknown_answer_to_kafka() -> None:
    with pytest.raises(SandboxError, match="say auto, container, embedded, or HOST:PORT"):
        choose_kafka("contaner")
