"""Progress: a live line on a terminal, a line of JSON a batch elsewhere."""

import io
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from headgate.spark.progress import BatchProgress
from jobs.command.report import line_of, progress_report

BATCH = BatchProgress(
    job="visits-counter",
    batch=3,
    started=datetime(2025, 9, 4, 9, 0, tzinfo=UTC),
    rows_in=12,
    rows_out=2,
    rows_per_second=40.5,
    watermark=datetime(2025, 9, 4, 6, 40, tzinfo=UTC),
    rows_dropped=1,
    rows_in_state=5,
)
LINE = "visits-counter: batch 3 · 12 in · 2 out · 40.5 rows/s · watermark 2025-09-04 06:40:00 · 1 dropped · 5 in state"


class Terminal(io.StringIO):
    """Takes the place of a terminal."""

    def isatty(self) -> bool:
        return True


def test_in_a_log_a_batch_is_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_report() as report:
        report(BATCH)
        report(replace(BATCH, batch=4))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["batch"] for line in lines] == [3, 4]
    assert lines[0]["watermark"] == "2025-09-04T06:40:00+00:00"


def test_on_a_terminal_one_line_is_kept_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    with progress_report() as report:
        report(replace(BATCH, batch=2))
        report(BATCH)
    assert LINE in terminal.getvalue()
    assert "\x1b[2K" in terminal.getvalue()  # the line before is wiped


def test_what_a_query_does_not_tell_is_left_out() -> None:
    assert "out" not in line_of(replace(BATCH, rows_out=None))
    assert "no watermark" in line_of(replace(BATCH, watermark=None))
