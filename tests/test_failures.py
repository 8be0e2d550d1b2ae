"""A failing feature tells its reader what was wrong, where, and what to do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.kafka.kafka import Kafka

ROOT = Path(__file__).parent.parent

MESSAGES = {
    "unknown sentence": ["failing/mistakes.feature:8: When pigs fly", "Step definition is not found"],
    "unknown job": [
        "mistakes.feature:11: Given the late writer is running",
        "there is no job 'late writer'",
        "early writer",
    ],
    "unknown topic": ["mistakes.feature:14:", 'there is no topic "vists"', '"visits"'],
    "unknown option": ["mistakes.feature:19:", "--speed"],
    "unknown column": ["mistakes.feature:26:", "line 27: the early writer has no column 'pages'", "visited_pages"],
    "column left out": ["line 36: the early writer also has is_finished"],
    "cell that does not parse": ["line 46, column 'visited_pages', cell 'one'"],
    "refusal that nobody expected": ["mistakes.feature:50:", "both visits", "would read what it writes"],
    "wrong count": [
        "surprises.feature:12: Then batch 0 is:",
        'visits[0]@0  {"visit_id": 1, "event_time": "2025-09-04T07:00:00.000000"}',
        "batch 0: 1 in, watermark none, 0 dropped, 1 in state",
        "window=07:00 to 07:10, count=1",
        "batch 1: 0 in, watermark 06:40",
        "df1",
    ],
    "batch that has not come": ["batch 7 of the visits windows counter has not come; there are [0]"],
    "wrong watermark": ["the watermark of batch 1 is 06:40, and the feature says 06:45"],
    "output that nobody mentioned": [
        "The scenario ends, and no step has mentioned:",
        "batch 0 of the visits windows counter has 1 row",
    ],
    "drop that nobody mentioned": ["the watermark dropped 1 row of the visits windows counter"],
    "bad record that nobody mentioned": ['1 record in "visits-rejected"', "not JSON"],
    "failure that nobody mentioned": ["bad record in topic visits, partition 0, offset 0: the value is not JSON"],
}


@pytest.fixture(scope="module")
def told(kafka: Kafka) -> dict[str, str]:
    """What a run of the failing features prints of each scenario."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/failing", "--kafka", kafka.address, "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    sections = re.split(r"^_+ (test_\w+) _+$", run.stdout, flags=re.MULTILINE)
    return dict(zip(sections[1::2], sections[2::2], strict=True))


def test_every_failing_scenario_has_failed(told: dict[str, str]) -> None:
    assert set(told) == {f"test_{name.replace(' ', '_')}" for name in MESSAGES}


@pytest.mark.parametrize("scenario", MESSAGES)
def test_failure_says(told: dict[str, str], scenario: str) -> None:
    text = re.sub(r"\x1b\[\d+m", "", told[f"test_{scenario.replace(' ', '_')}"])
    for expected in MESSAGES[scenario]:
        assert expected in text
    assert "Traceback" not in text
    assert "site-packages" not in text
