"""What pytest loads in every run: options, and a look for feature files. All else comes with the first of these."""

import pytest

pytest_plugins = ["headgate.plugin.collection"]


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
    group.addoption("--show-led", action="store_true", help="list what programs named, and where that led")
    group.addoption("--narrate", action="store_true", help="tell each scenario as it is played")
    group.addoption("--mutate", action="store_true", help="play the scenarios against programs wrong in one place")
    group.addoption("--mutate-since", metavar="REV", help="only what is wrong in files that changed since REV")
    group.addoption("--mutate-share", type=float, default=1.0, metavar="SHARE", help="a part of them, as 0.1 (1)")
    group.addoption("--mutate-seed", type=int, metavar="N", help="which part; printed if not given")
    group.addoption("--mutate-report", metavar="FILE", help="the table of mutants as JSON")
    group.addoption(
        "--disturb",
        choices=["restart", "replay"],
        help="what happens to every running program before each step that sends: it is stopped and started again, or it"
        " has died after its sink and before it could note so",
    )
