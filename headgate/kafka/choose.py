"""Finds the Kafka that `--kafka` asks for."""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.errors import SandboxError
from headgate.kafka.container import ContainerKafka, engine_answers, usable_image
from headgate.kafka.embedded import EmbeddedKafka
from headgate.kafka.kafka import Kafka, own_kafka


@dataclass(frozen=True)
class Choice:
    """Which Kafka it will be, and how to start it."""

    shown: str
    start: Callable[[], Kafka]


EMBEDDED = Choice("embedded Apache Kafka", EmbeddedKafka)


def choose_kafka(wanted: str, image: str | None = None) -> Choice:
    """`auto`, `container`, `embedded`, or HOST:PORT of the reader's own."""
    if wanted == "embedded":
        return EMBEDDED
    if wanted == "container":
        return _container(image)
    if wanted == "auto":
        found = usable_image(image) if engine_answers() else None
        return _of_image(found) if found else EMBEDDED
    if ":" in wanted:
        return Choice(f"your own Kafka at {wanted}", lambda: own_kafka(wanted))
    raise SandboxError(f"--kafka {wanted} is unknown: say auto, container, embedded, or HOST:PORT.")


def _container(image: str | None) -> Choice:
    if not engine_answers():
        raise SandboxError(
            "No Docker engine answers: start one (docker/with-engine does), or use --kafka embedded, which needs none."
        )
    found = usable_image(image)
    if found is None:
        raise SandboxError("No Kafka image is here or can be pulled: build one with docker/build-image.")
    return _of_image(found)


def _of_image(image: str) -> Choice:
    return Choice(f"container of {image}", lambda: ContainerKafka(image))
