"""A project of somebody else's, whose features are put to the test: a weak one and a strong one."""

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SECONDS = 400
PROGRAM = """\
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
(
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", "clicks")
    .option("startingOffsets", "earliest")
    .load()
    .select(F.from_json(F.col("value").cast("string"), "at TIMESTAMP").alias("c"))
    .select("c.*")
    .withWatermark("at", "10 minutes")
    .groupBy(F.window("at", "5 minutes"))
    .count()
    .writeStream.outputMode("append")
    .format("console")
    .option("checkpointLocation", "/tmp/clicks")
    .start()
    .awaitTermination()
)
"""
WEAK = """\
Feature: Clicks
  Scenario: A window comes when it is over
    Given the day is 2026-03-02
    And a topic "clicks"
    And the clicks is running
    When this event arrives in "clicks":
      | at    |
      | 08:01 |
    And this event arrives in "clicks":
      | at    |
      | 12:00 |
    Then batch 4 is:
      | window         | count |
      | 08:00 to 08:05 | 1     |
"""
STRONG = (
    WEAK
    + """
  Scenario: It is not over before
    Given the day is 2026-03-02
    And a topic "clicks"
    And the clicks is running
    When this event arrives in "clicks":
      | at    |
      | 08:01 |
    And this event arrives in "clicks":
      | at    |
      | 08:14 |
    And this event arrives in "clicks":
      | at    |
      | 08:15 |
    Then the watermark is 08:05
    And batch 6 is:
      | window         | count |
      | 08:00 to 08:05 | 1     |
"""
)
COPIER = """\
from pyspark.sql import SparkSession

kafka = {"kafka.bootstrap.servers": "localhost:9092"}
spark = SparkSession.builder.getOrCreate()
clicks = spark.readStream.format("kafka").options(**kafka, subscribe="clicks", startingOffsets="earliest").load()
clicks.select("value").writeStream.format("kafka").options(**kafka, topic="copies").start().awaitTermination()
"""
COPIED = """\
Feature: Copies
  Scenario: Each click goes on
    Given a topic "clicks"
    And the copier is running
    When these lines arrive in "clicks":
      \"""
      one
      \"""
    And these lines arrive in "clicks":
      \"""
      two
      \"""
    Then "copies" receives exactly:
      \"""
      one
      two
      \"""
"""
DECLARED = """\
[tool.headgate.jobs]
"clicks" = "clicks.py"
"copier" = "copier.py"

[tool.headgate.equivalent]
"clicks.py:9 option startingOffsets other" = "the topic is empty at the start"
"""
LONGER = "clicks.py:13 watermark longer"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program with a watermark and a window."""
    (tmp_path / "clicks.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "copier.py").write_text(COPIER, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    return tmp_path


def play(project: Path, feature: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of one feature."""
    (project / "clicks.feature").write_text(dedent(feature), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "--kafka", "embedded"]
    return subprocess.run(
        [*command, "clicks.feature", *words], cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def outcomes(project: Path, feature: str) -> tuple[int, dict[str, str]]:
    """The exit code, and what became of each mutant."""
    run = play(project, feature, "--mutate", "--mutate-report", "mutants.json")
    assert "mutants: " in run.stdout, run.stdout + run.stderr
    told = json.loads((project / "mutants.json").read_text(encoding="utf-8"))
    return run.returncode, {each["mutant"]: each["what"] for each in told["mutants"]}


def test_a_weak_feature_lets_a_mutant_survive(project: Path) -> None:
    code, found = outcomes(project, WEAK)
    assert code == 1
    assert found[LONGER] == "SURVIVED"
    assert found["clicks.py:14 window longer"] == "caught"
    assert found["clicks.py:9 option startingOffsets other"] == "accepted"


def test_a_strong_feature_catches_it(project: Path) -> None:
    _, found = outcomes(project, STRONG)
    assert found[LONGER] == "caught"
    assert found["clicks.py:16 output mode complete"] != "SURVIVED"


def test_nothing_is_played_where_a_scenario_fails_already(project: Path) -> None:
    run = play(project, WEAK.replace("| 1     |", "| 2     |"), "--mutate")
    assert run.returncode == 1
    assert "a scenario fails already without a mutant" in run.stdout


@pytest.mark.parametrize("kind", ["restart", "replay"])
def test_a_disturbed_scenario_holds_as_it_stands(kind: str, project: Path) -> None:
    run = play(project, STRONG, "--disturb", kind)
    assert run.returncode == 0, run.stdout
    assert f"disturbed: {kind}" in run.stdout


def test_a_scenario_says_why_it_is_not_disturbed(project: Path) -> None:
    feature = WEAK.replace("  Scenario", "  @undisturbed-it-counts-its-starts\n  Scenario")
    run = play(project, feature, "--disturb", "restart", "-rs")
    assert "not disturbed: it counts its starts" in run.stdout


def test_what_is_there_twice_is_shown_and_a_promise_is_kept(project: Path) -> None:
    run = play(project, COPIED, "--disturb", "replay")
    assert run.returncode == 0, run.stdout
    assert "at least once" in run.stdout
    promised = play(project, COPIED.replace("  Scenario", "  @exactly_once\n  Scenario"), "--disturb", "replay")
    assert promised.returncode == 1
    assert 'there is something twice in topic "copies"' in promised.stdout
