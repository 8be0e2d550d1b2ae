"""Options of a run, and the vocabulary that features are played with."""

import pytest

pytest_plugins = [
    "steps.collection",
    "steps.fixtures",
    "steps.reporting",
    "steps.narration",
    "steps.times",
    "steps.topics",
    "steps.jobs",
    "steps.batches",
    "steps.tables",
    "steps.checkpoints",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a run can be told."""
    group = parser.getgroup("sluice")
    group.addoption(
        "--kafka",
        default="auto",
        help="auto (a container where Docker has the image, else embedded), container, embedded, or HOST:PORT",
    )
    group.addoption("--kafka-image", help="the image for --kafka container")
    group.addoption("--master", default="local[2]", help="Spark's master (local[2])")
    group.addoption("--patience", type=float, default=60, metavar="SECONDS", help="how long any step may wait (60)")
