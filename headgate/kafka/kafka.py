"""A Kafka to run against, whoever started it."""

import time
from collections.abc import Callable

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headgate.errors import SandboxError


class Kafka:
    """A broker that answers at `address`."""

    def __init__(self, address: str, kind: str) -> None:
        self.address = address
        self.kind = kind

    def stop(self) -> None:
        """Release the broker; somebody else's is left as it is."""


def own_kafka(address: str, wait_seconds: float = 15) -> Kafka:
    """The reader's own broker at HOST:PORT."""
    if not answers_within(address, wait_seconds):
        raise SandboxError(
            f"No Kafka answers at {address} (waited {wait_seconds:.0f} s). "
            "Start it, correct the address, or leave it out to get an embedded broker."
        )
    return Kafka(address, kind="a Kafka of your own")


def answers_within(address: str, seconds: float, still_alive: Callable[[], bool] = lambda: True) -> bool:
    """Ask the broker for its metadata until it answers, its process is gone, or time is up."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0, "reconnect.backoff.max.ms": 200})
    deadline = time.monotonic() + seconds
    while still_alive() and time.monotonic() < deadline:
        try:
            if admin.list_topics(timeout=1).brokers:
                return True
        except KafkaException:
            continue
    return False
