"""What pytest loads: options, collection of feature files, fixtures, the vocabulary, reports."""

import pytest

pytest_plugins = [
    "headgate.plugin.collection",
    "headgate.plugin.fixtures",
    "headgate.tell.reporting",
    "headgate.tell.narration",
    "headgate.steps.times",
    "headgate.steps.topics",
    "headgate.steps.jobs",
    "headgate.steps.batches",
    "headgate.steps.tables",
    "headgate.steps.checkpoints",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a run can be told."""
    group = parser.getgroup("headgate")
    group.addoption(
        "--kafka",
        default="auto",
        help="auto (a container where Docker has the image, else embedded), container, embedded, or HOST:PORT",
    )
    group.addoption("--kafka-image", help="the image for --kafka container")
    group.addoption("--master", default="local[2]", help="Spark's master (local[2])")
    group.addoption("--patience", type=float, default=60, metavar="SECONDS", help="how long any step may wait (60)")
