"""Looks into a Delta table's log for batches that it would silently skip.

Delta notes the query id and the batch id with every batch that a stream writes, and ignores a batch id that is not
above the newest it has for that query id. RESTORE does not take these notes back.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headgate.rewind.errors import FailureError, RefusalError
from headgate.rewind.files import Files
from headgate.rewind.shapes import json_or_none, part

COMMIT = re.compile(r"_delta_log/(\d{20})\.json")
LOG_CHECKPOINT = re.compile(r"_delta_log/(\d{20})\.checkpoint\.(?:.+\.)?(parquet|json)")


@dataclass(frozen=True)
class Written:
    """A batch that is in the table: who wrote it, its number, the table's version, and whether that is exact."""

    application: str
    batch: int
    table_version: int
    is_exact: bool


def batches_in_table(table: Files) -> list[Written]:
    """Every transaction that the table's log still tells of, oldest first."""
    paths = [entry.path for entry in table.listing("_delta_log")]
    if not any(map(COMMIT.fullmatch, paths)):
        raise RefusalError(f"{table.root} is not a Delta table: there is no log in it; correct --table.")
    found = list(_from_checkpoint(table, paths))
    for path in sorted(paths):
        if match := COMMIT.fullmatch(path):
            found += _from_lines(table, path, int(match[1]), is_exact=True)
    return found


def refuse_if_skipped(checkpoint: str, query_id: str, to_batch: int, table: Files) -> None:
    """Refuse a rewind whose batches the table would ignore, and say what works instead."""
    ours = [note for note in batches_in_table(table) if note.application == query_id and note.batch >= to_batch]
    if not ours:
        return
    last = max(note.batch for note in ours)
    raise RefusalError(
        f"{checkpoint}: the Delta table {table.root} already has batches {to_batch} to {last} of this query and would "
        f"silently skip them when they are replayed, so first {_taken_back(table, ours)} (which also takes back "
        "whatever else was written since), and then rewind with --new-query-id, under which Delta does not know the "
        "batches."
    )


def other_writers(query_id: str, table: Files) -> dict[str, int]:
    """The newest batch of every other application that writes to the table with transaction notes."""
    newest: dict[str, int] = {}
    for note in batches_in_table(table):
        if note.application != query_id:
            newest[note.application] = max(note.batch, newest.get(note.application, note.batch))
    return newest


def _taken_back(table: Files, ours: list[Written]) -> str:
    first = min((note for note in ours if note.is_exact), key=lambda note: note.table_version, default=None)
    if first is None:
        return "restore the table to its version before that batch (its log no longer says which)"
    if first.table_version == 0:
        return f"empty the table with `DELETE FROM delta.`{table.root}``"
    return f"run `RESTORE TABLE delta.`{table.root}` TO VERSION AS OF {first.table_version - 1}`"


def _from_checkpoint(table: Files, paths: list[str]) -> Iterator[Written]:
    matches = [match for path in paths if (match := LOG_CHECKPOINT.fullmatch(path))]
    newest = max((int(match[1]) for match in matches), default=-1)
    for match in matches:
        if int(match[1]) != newest:
            continue
        if match[2] == "json":
            yield from _from_lines(table, match[0], newest, is_exact=False)
        else:
            yield from _from_parquet(table, match[0], newest)


def _from_parquet(table: Files, path: str, version: int) -> Iterator[Written]:
    # Only here: it is needed for tables whose log has been checkpointed.
    from pyarrow import parquet

    try:
        opened = parquet.ParquetFile(io.BytesIO(table.read(path)))
        rows = opened.read(columns=["txn"]).to_pylist() if "txn" in opened.schema_arrow.names else []
    except ValueError:
        raise _damaged(table, path) from None
    for row in rows:
        if row["txn"]:
            yield _note(table, path, row["txn"], version, is_exact=False)


def _from_lines(table: Files, path: str, version: int, is_exact: bool) -> Iterator[Written]:
    for line in table.read(path).decode(errors="replace").splitlines():
        if '"txn"' in line:
            found = json_or_none(line)
            if not isinstance(found, dict):
                raise _damaged(table, path)
            if found.get("txn"):
                yield _note(table, path, found["txn"], version, is_exact)


def _note(table: Files, path: str, note: Any, version: int, is_exact: bool) -> Written:
    application, batch = part(note, "appId", str), part(note, "version", int)
    if application is None or batch is None:
        raise _damaged(table, path)
    return Written(application, batch, version, is_exact)


def _damaged(table: Files, path: str) -> FailureError:
    return FailureError(
        f"{table.root}/{path} is not what Delta writes: repair the table, or leave --table out and look for yourself "
        "which batches it has."
    )
