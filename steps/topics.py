"""Sentences about topics: events that arrive in them, records that jobs write to them."""

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
from confluent_kafka import Message

from headgate.compare.cells import CLOCK, json_value
from headgate.compare.checks import check_equal, counted, fail
from headgate.compare.frames import expected_table
from headgate.compare.grid import Cell, Grid
from headgate.errors import FeatureMistake
from headgate.stage.stage import Stage
from headgate.stage.topic import Event

from .sentences import given, then, when

NOT_FIELDS = ("key", "partition", "why")
SIZE = re.compile(r"(\d+) bytes")
LONGEST_SHOWN = 1000
RECORD_PARTS = ("key", "value", "partition", "timestamp", "why")


@given('a topic "{name}"')
def a_topic(stage: Stage, name: str) -> None:
    """A topic with one partition, this scenario's own."""
    stage.add_topic(name, partitions=1)


@given('a topic "{name}" with {partitions:d} partitions')
def a_topic_with_partitions(stage: Stage, name: str, partitions: int) -> None:
    """A topic with several partitions."""
    stage.add_topic(name, partitions)


@given('these events in "{topic}":')
@when('these events arrive in "{topic}":')
@when('this event arrives in "{topic}":')
def these_events_arrive(stage: Stage, topic: str) -> None:
    """Sends the table's rows as JSON, at once, and lets every running job process them.

    A column is a field, but for `key`, `partition`, and `why`, which is for the reader alone.
    """
    stage.send(topic, _events(stage, stage.grid(), None))


@when('these events arrive in partition {partition:d} of "{topic}":')
def these_events_arrive_in_partition(stage: Stage, topic: str, partition: int) -> None:
    """The same, into one partition."""
    stage.send(topic, _events(stage, stage.grid(), partition))


@given('these records in "{topic}":')
@when('these records arrive in "{topic}":')
def these_records_arrive(stage: Stage, topic: str) -> None:
    """Sends records as they stand: `key`, `value`, `partition`, `timestamp` (Kafka's own), and any other column is a
    header, but for `why`."""
    stage.send(topic, [_record(stage, row) for row in stage.grid()])


@given('these lines in "{topic}":')
@when('these lines arrive in "{topic}":')
@when('this line arrives in "{topic}":')
def these_lines_arrive(stage: Stage, topic: str, docstring: str) -> None:
    """Sends each line as it stands, at once, as a console producer would."""
    stage.send(topic, [Event(line.encode()) for line in docstring.splitlines() if line.strip()])


@when('this value arrives in "{topic}": {value}')
def this_value_arrives(stage: Stage, topic: str, value: str) -> None:
    r"""Sends one value that a line cannot hold: `null`, bytes such as `\xff\xfe`, or `1000000 bytes`."""
    stage.send(topic, [Event(_odd_value(value))])


@when('retention deletes the records of "{topic}" before offset {offset:d}')
def retention_deletes(stage: Stage, topic: str, offset: int) -> None:
    """The first records of partition 0 are gone from Kafka, as when they have become too old."""
    stage.topic(topic).forget_before(offset, stage.patience)


@then('"{topic}" receives exactly:')
def topic_receives_exactly(stage: Stage, topic: str, docstring: str) -> None:
    """The records that have come since the last such step, in any order, each value a line."""
    lines = [line.strip() for line in docstring.splitlines() if line.strip()]
    expected = pa.table({"value": pa.array(lines, pa.string())})
    actual = pa.table({"value": pa.array([_text(message.value()) for message in _fresh(stage, topic)], pa.string())})
    check_equal(stage, _shortened(actual), _shortened(expected), f'what "{topic}" has received')


@then('"{topic}" receives these records:')
def topic_receives_records(stage: Stage, topic: str) -> None:
    """The same as a table: `key`, `value`, `record partition` and `record timestamp` are the record's own, and any
    other column is a header. `2000 bytes` stands for a long value as `this value arrives` sends it."""
    grid = stage.grid()
    schema = pa.schema([(name, pa.string()) for name in grid.columns])
    rows = [{name: _part(stage, message, name) for name in grid.columns} for message in _fresh(stage, topic)]
    actual = pa.Table.from_pylist(rows, schema=schema)
    expected = _with_sizes(expected_table(grid, actual, stage.cells(), "a record", are_texts=True))
    check_equal(stage, _shortened(actual), _shortened(expected), f'what "{topic}" has received')


@then('"{topic}" receives nothing')
@then('"{topic}" receives nothing more')
def topic_receives_nothing(stage: Stage, topic: str) -> None:
    """No record has come since the last such step."""
    fresh = _fresh(stage, topic)
    if fresh:
        shown = "\n".join(f"  {_short(_text(message.value()))}" for message in fresh)
        fail(stage, f'"{topic}" has received {counted(len(fresh), "record")} more:\n{shown}')


@then('the latest record of each key in "{topic}" is:')
def latest_of_each_key(stage: Stage, topic: str, docstring: str) -> None:
    """What a consumer that keeps the latest value of each key has in the end."""
    stage.settle()
    _fresh(stage, topic)
    latest = {message.key(): _text(message.value()) for message in stage.topic(topic).seen}
    lines = [line.strip() for line in docstring.splitlines() if line.strip()]
    check_equal(
        stage,
        pa.table({"value": pa.array(list(latest.values()), pa.string())}),
        pa.table({"value": pa.array(lines, pa.string())}),
        f'the latest of each key in "{topic}"',
    )


def _events(stage: Stage, grid: Grid, partition: int | None) -> list[Event]:
    return [_event(stage, row, partition) for row in grid]


def _event(stage: Stage, row: dict[str, Cell], partition: int | None) -> Event:
    fields = {name: _field(stage, cell) for name, cell in row.items() if name not in NOT_FIELDS}
    if "partition" in row:
        partition = _partition(row["partition"])
    key = row["key"].text.encode() if "key" in row else None
    return Event(json.dumps(fields).encode(), key, partition)


def _record(stage: Stage, row: dict[str, Cell]) -> Event:
    headers = [(name, _bytes(cell)) for name, cell in row.items() if name not in RECORD_PARTS]
    return Event(
        value=_bytes(row["value"]) if "value" in row else None,
        key=_bytes(row["key"]) if "key" in row else None,
        partition=_partition(row["partition"]) if "partition" in row else None,
        headers=tuple(headers),
        timestamp=stage.cells().moment(row["timestamp"], row["timestamp"].text) if "timestamp" in row else None,
    )


def _bytes(cell: Cell) -> bytes | None:
    return None if cell.text == "null" else cell.text.encode()


def _partition(cell: Cell) -> int:
    if not cell.text.isdigit():
        raise cell.mistake("not a partition's number")
    return int(cell.text)


def _field(stage: Stage, cell: Cell) -> object:
    if CLOCK.fullmatch(cell.text):
        return stage.cells().moment(cell, cell.text).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return json_value(cell.text)


def _odd_value(text: str) -> bytes | None:
    if text == "null":
        return None
    size = SIZE.fullmatch(text)
    if size:
        return b"x" * int(size[1])
    try:
        return text.encode().decode("unicode_escape").encode("latin-1")
    except UnicodeError:
        raise FeatureMistake(
            rf"'{text}' is neither null, nor bytes like \xff\xfe, nor a size like 1000 bytes"
        ) from None


def _fresh(stage: Stage, topic: str) -> list[Message]:
    stage.settle()
    return stage.topic(topic).read_on(stage.patience)


def _part(stage: Stage, message: Message, name: str) -> str | None:
    if name == "record partition":
        return str(message.partition())
    if name == "record timestamp":
        return stage.clock(datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC))
    if name in ("key", "value"):
        return _text(message.key() if name == "key" else message.value())
    headers: Sequence[tuple[str, bytes]] = message.headers() or []
    found = [value for header, value in headers if header == name]
    return stage.without_suffix(_text(found[-1]) or "") if found else None


def _text(value: bytes | None) -> str | None:
    if value is None:
        return None
    return value.decode(errors="backslashreplace")


def _with_sizes(table: pa.Table) -> pa.Table:
    """The table with long values in full where a cell gives their size."""
    rows = [{name: _of_size(text) for name, text in row.items()} for row in table.to_pylist()]
    return pa.Table.from_pylist(rows, schema=table.schema)


def _of_size(text: str | None) -> str | None:
    size = SIZE.fullmatch(text or "")
    return "x" * int(size[1]) if size else text


def _shortened(table: pa.Table) -> pa.Table:
    """The table with long values as their size and digest, which tell whether they are the same."""
    rows = [{name: _short(text) for name, text in row.items()} for row in table.to_pylist()]
    return pa.Table.from_pylist(rows, schema=table.schema)


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:40]}… {len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"
