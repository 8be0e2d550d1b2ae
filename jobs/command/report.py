"""Shows how a job gets on: one live line on a terminal, a line of JSON a batch in a log."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headgate.spark.progress import BatchProgress

Report = Callable[[BatchProgress], None]


@contextmanager
def progress_report() -> Iterator[Report]:
    """Takes each batch as it is done."""
    if not sys.stderr.isatty():
        yield _log
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    # What the job prints must not be torn by the live line, if both are on the terminal.
    shared = sys.stdout.isatty()
    with Live(console=Console(stderr=True), redirect_stdout=shared, redirect_stderr=shared) as live:
        yield lambda batch: live.update(Text(line_of(batch), no_wrap=True, overflow="ellipsis"), refresh=True)


def _log(batch: BatchProgress) -> None:
    print(json.dumps(batch.as_json()), file=sys.stderr, flush=True)


def line_of(batch: BatchProgress) -> str:
    """The batch in one line."""
    parts = [
        f"{batch.job}: batch {batch.batch}",
        f"{batch.rows_in} in",
        "" if batch.rows_out is None else f"{batch.rows_out} out",
        f"{batch.rows_per_second:g} rows/s",
        f"watermark {batch.watermark:%Y-%m-%d %H:%M:%S}" if batch.watermark else "no watermark",
        f"{batch.rows_dropped} dropped",
        f"{batch.rows_in_state} in state",
    ]
    return " · ".join(part for part in parts if part)
