"""Finds the Kafka that `--kafka` asks for."""

from sandbox.container import ContainerKafka, engine_answers, usable_image
from sandbox.embedded import EmbeddedKafka
from sandbox.errors import SandboxError
from sandbox.kafka import Kafka, own_kafka


def start_kafka(wanted: str, image: str | None = None) -> Kafka:
    """`auto`, `container`, `embedded`, or HOST:PORT of the reader's own."""
    if wanted == "embedded":
        return EmbeddedKafka()
    if wanted == "container":
        return _container(image)
    if wanted == "auto":
        found = usable_image(image) if engine_answers() else None
        return ContainerKafka(found) if found else EmbeddedKafka()
    if ":" in wanted:
        return own_kafka(wanted)
    raise SandboxError(f"--kafka {wanted} is unknown: say auto, container, embedded, or HOST:PORT.")


def _container(image: str | None) -> Kafka:
    if not engine_answers():
        raise SandboxError(
            "No Docker engine answers: start one (docker/with-engine does), or use --kafka embedded, which needs none."
        )
    found = usable_image(image)
    if found is None:
        raise SandboxError("No Kafka image is here or can be pulled: build one with docker/build-image.")
    return ContainerKafka(found)
