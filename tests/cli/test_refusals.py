"""What makes no sense is refused before Spark starts: exit code 2 and one sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

CONSUMER = "visits-windows-counter"
RECOUNT = "visits-counter-reprocessing"
NONSENSE = {
    "no job": ([], ""),
    "no job to run": (["run"], ""),
    "an unknown job": (["run", "visit-counter"], "There is no job 'visit-counter'"),
    "an unknown tool": (["visit-counter"], "There is no tool visit-counter"),
    "an unknown option": (["run", CONSUMER, "--windows", "5 minutes"], "Unrecognized arguments: --windows"),
    "an abbreviated option": (["run", CONSUMER, "--water", "5 minutes"], "Unrecognized arguments"),
    "a negative watermark": (["run", CONSUMER, "--watermark", "-5 minutes"], "'-5 minutes' is not a positive duration"),
    "a window of nothing": (["run", CONSUMER, "--window", "0 minutes"], "'0 minutes' is not a positive duration"),
    "a negative trigger": (["run", CONSUMER, "--trigger", "-20 seconds"], "is not a positive duration"),
    "a negative timeout": (["run", "early-writer", "--visit-timeout", "-1 hour"], "is not a positive duration"),
    "no duration": (["run", CONSUMER, "--window", "soon"], "'soon' is not a duration: write it like '10 minutes'"),
    "no records a batch": (["run", CONSUMER, "--max-offsets-per-trigger", "0"], "'0' is not a whole number from 1 on"),
    "no port": (["run", CONSUMER, "--kafka", "localhost"], "'localhost' is not HOST:PORT"),
    "a port out of range": (["run", CONSUMER, "--kafka", "localhost:99999"], "'localhost:99999' is not HOST:PORT"),
    "a setting without value": (["run", CONSUMER, "--conf", "spark.ui.enabled"], "'spark.ui.enabled' is not KEY=VALUE"),
    "a client setting without value": (["run", CONSUMER, "--kafka-option", "sasl"], "'sasl' is not KEY=VALUE"),
    "a secret that is not there": (
        ["run", CONSUMER, "--kafka-option", "sasl.jaas.config=env:HEADGATE_NO_SUCH"],
        "The environment has no variable HEADGATE_NO_SUCH",
    ),
    "a secret's file that is not there": (
        ["run", CONSUMER, "--kafka-option", "sasl.jaas.config=file:no-such-file"],
        "The file no-such-file, which --kafka-option asks for, cannot be read",
    ),
    "no time zone": (["run", CONSUMER, "--time-zone", "Europe/Atlantis"], "Europe/Atlantis is not a time zone"),
    "half a time zone": (["run", CONSUMER, "--time-zone", "Europe"], "Europe is not a time zone"),
    "a topic's name with a space": (["run", CONSUMER, "--topic", "my visits"], "'my visits' is not a topic's name"),
    "output to the input": (
        ["run", "visits-counter", "--output-topic", "visits"],
        "--topic and --output-topic are both visits: the job would read what it writes",
    ),
    "dead letters to the input": (["run", CONSUMER, "--dead-letter-topic", "visits"], "are both visits"),
    "a range that ends before it starts": (
        ["run", RECOUNT, "2025-09-04T08:00:00", "2025-09-04T07:00:00"],
        "The range ends at 2025-09-04T07:00:00, not after its start",
    ),
    "a range that cuts a window": (["run", RECOUNT, "2025-09-04T07:05:00", "2025-09-04T08:00:00"], "cuts a window"),
    "no range": (["run", RECOUNT, "yesterday", "today"], "'yesterday' is not a time"),
    "a table that is not there": (
        ["run", RECOUNT, "2025-09-04T07:00:00", "2025-09-04T08:00:00", "--table", "no-such-table"],
        "no-such-table is not a Delta table",
    ),
    "records for somebody else's Kafka": (
        ["run", CONSUMER, "--kafka", "localhost:9092", "--send", "-"],
        "--send fills the topic of an embedded Kafka",
    ),
    "no such records": (["run", CONSUMER, "--send", "no-such-file"], "There is no file no-such-file"),
    "no batch to rewind to": (["rewind-checkpoint", "no-such-checkpoint"], "Give --to-batch N"),
}


@pytest.fixture(autouse=True)
def _without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        raise AssertionError("Spark would have been started")

    monkeypatch.setattr("jobs.command.runner.run_job", started)


def refusal(command: Callable[..., int], capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert command(*words) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(("words", "sentence"), NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_in_one_sentence(
    words: list[str], sentence: str, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(command, capsys, *words)
    assert sentence in said
    assert said.count("\n") <= 1


def begun_checkpoint(folder: Path, topic: str, owner: str | None) -> str:
    (folder / "offsets").mkdir(parents=True)
    (folder / "metadata").write_text('{"id":"4a5b"}')
    (folder / "offsets" / "0").write_text(f"v1\n{{}}\n{json.dumps({topic: {'0': 1}})}")
    if owner:
        (folder.parent / f"{folder.name}.job").write_text(f"{owner}\n")
    return str(folder)


def test_the_checkpoint_of_another_job_is_refused(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = begun_checkpoint(tmp_path / "c", "visits", owner="visits-counter")
    said = refusal(command, capsys, "run", CONSUMER, "--kafka", "localhost:9092", "--checkpoint", checkpoint)
    assert said == (
        f"The checkpoint {checkpoint} belongs to the job visits-counter: give {CONSUMER} another --checkpoint.\n"
    )


def test_the_checkpoint_of_another_topic_is_refused(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = begun_checkpoint(tmp_path / "c", "clicks", owner=None)
    said = refusal(command, capsys, "run", CONSUMER, "--kafka", "localhost:9092", "--checkpoint", checkpoint)
    assert "is of topic clicks, not visits" in said


def test_a_used_checkpoint_does_not_fit_a_fresh_kafka(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = begun_checkpoint(tmp_path / "c", "visits", owner=CONSUMER)
    assert "is of another Kafka than the embedded one" in refusal(
        command, capsys, "run", CONSUMER, "--checkpoint", checkpoint
    )


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_no_delta_table_is_not_written_to(
    kind: str, command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table"
    if kind == "folder":
        table.mkdir()
        (table / "letters.txt").write_text("dear all")
    else:
        table.write_text("dear all")
    said = refusal(command, capsys, "run", "data-synchronization", "--table", str(table))
    assert f"{table} exists and is not a Delta table" in said
