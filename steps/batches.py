"""Sentences about micro-batches: their rows, their watermark, what was dropped, what is in state.

Where several jobs run, say which is meant: `batch 3 of the visits counter is:`. A batch is one of the latest start;
`batch 3 of the first start is:` is about an earlier one. A program with several queries has a `second query of the
visits counter`, and a `query "late" of the visits counter`.
"""

import json
from datetime import datetime
from itertools import pairwise

import pyarrow as pa

from headgate.compare.checks import check_equal, counted, fail
from headgate.compare.frames import expected_table
from headgate.compare.grid import Cell
from headgate.seam.sinks import SeenBatch
from headgate.spark.progress import BatchProgress
from headgate.stage.stage import Stage
from headgate.stage.staged_program import StagedQuery

from .sentences import then


@then("batch {number:d} is:")
@then("batch {number:d} of the {job} is:")
def batch_is(stage: Stage, number: int, job: str | None = None) -> None:
    """The batch has just these rows, in any order; every column is mentioned."""
    query = stage.query(job)
    batch = _seen(stage, query, number)
    expected = expected_table(stage.grid(), batch.rows, stage.cells(), f"the {query.name}")
    check_equal(stage, batch.rows, expected, f"batch {number}")


@then("batch {number:d} has {count:d} row")
@then("batch {number:d} has {count:d} rows")
@then("batch {number:d} of the {job} has {count:d} row")
@then("batch {number:d} of the {job} has {count:d} rows")
def batch_has_rows(stage: Stage, number: int, count: int, job: str | None = None) -> None:
    """How many rows the batch has, where a later step says which."""
    rows = _seen(stage, stage.query(job), number).rows.num_rows
    if rows != count:
        fail(stage, f"batch {number} has {counted(rows, 'row')}, and the feature says {count}")


@then("every line of the batches names its partition")
def every_line_names_partition(stage: Stage) -> None:
    """What is printed: a heading for each batch, then a line for each visit that begins with its Kafka partition."""
    stage.settle()
    batches = stage.query().seen()
    if not any(batch.rows.num_rows for batch in batches):
        fail(stage, "no batch has printed a line: nothing was looked at")
    for batch in batches:
        heading, *lines = batch.printed.splitlines() or [""]
        if heading != "✍️ Printing visits" or len(lines) != batch.rows.num_rows:
            fail(stage, f"batch {batch.number} was printed as:\n{batch.printed}")
        partitions = [f"Partition[{number}]" for number in sorted(batch.rows.column("partition").to_pylist())]
        for line, partition in zip(lines, partitions, strict=True):
            if not line.startswith(f"{partition} > Printing visit=Row("):
                fail(stage, f"batch {batch.number} has the line: {line}")


@then("batch {number:d} is empty")
@then("batch {number:d} of the {job} is empty")
def batch_is_empty(stage: Stage, number: int, job: str | None = None) -> None:
    """The batch has run and has no rows."""
    _check_empty(stage, stage.query(job), number)


@then("batch {number:d} is empty, the watermark having moved to {time}")
@then("batch {number:d} of the {job} is empty, the watermark having moved to {time}")
def batch_is_empty_watermark_moved(stage: Stage, number: int, time: str, job: str | None = None) -> None:
    """The batch that Spark runs without data, only because the watermark moved."""
    query = stage.query(job)
    _check_empty(stage, query, number)
    report = next((each for each in reversed(query.progress_in_start()) if each.batch == number), None)
    _check_watermark(stage, report, stage.moment(time), f"the watermark of batch {number}")


@then("there is no batch {number:d}")
@then("there is no batch {number:d} of the {job}")
def there_is_no_batch(stage: Stage, number: int, job: str | None = None) -> None:
    """The batch has not run, though others have."""
    stage.settle()
    query = stage.query(job)
    run = query.batches_run()
    if not run:
        fail(stage, f"the {query.name} has run no batch at all: nothing was looked at")
    if number in run:
        fail(stage, f"batch {number} has run")


@then("the watermark is {time}")
@then("the watermark of the {job} is {time}")
def watermark_is(stage: Stage, time: str, job: str | None = None) -> None:
    """The watermark of the latest batch."""
    query = stage.query(job)
    _check_watermark(stage, _latest(stage, query), stage.moment(time), f"the watermark of the {query.name}")


@then("no row was dropped")
def no_row_dropped(stage: Stage) -> None:
    """The watermark has dropped nothing since the last such step."""
    _check_dropped(stage, stage.query(), 0)


@then("{count:d} row was dropped by the watermark")
@then("{count:d} rows were dropped by the watermark")
@then("the watermark of the {job} dropped {count:d} row")
@then("the watermark of the {job} dropped {count:d} rows")
def rows_dropped(stage: Stage, count: int, job: str | None = None) -> None:
    """Spark's own count of rows that came too late, since the last such step."""
    _check_dropped(stage, stage.query(job), count)


@then("the state holds {count:d} row")
@then("the state holds {count:d} rows")
@then("the state of the {job} holds {count:d} row")
@then("the state of the {job} holds {count:d} rows")
def state_holds(stage: Stage, count: int, job: str | None = None) -> None:
    """How many rows the job's state has after the latest batch. A state that is said to be empty stays so, or another
    step says what is in it."""
    query = stage.query(job)
    actual = _latest(stage, query).rows_in_state
    if actual != count:
        fail(stage, f"the state of the {query.name} holds {counted(actual, 'row')}, and the feature says {count}")
    query.staged.mention_state(query.which, is_empty=count == 0)


@then("no batch has more than {most:d} rows")
def no_batch_has_more(stage: Stage, most: int) -> None:
    """Every batch so far is within the bound, and there was more to take than one batch may."""
    stage.settle()
    sizes = {batch.number: batch.rows.num_rows for batch in stage.query().seen()}
    too_large = {number: size for number, size in sizes.items() if size > most}
    if too_large:
        fail(stage, f"batches with more than {most} rows: {too_large}")
    if sum(sizes.values()) <= most:
        together = counted(sum(sizes.values()), "row")
        fail(stage, f"all batches together have only {together}: the bound was not put to the test")


@then('the batches together show every event of "{topic}" once')
def batches_show_every_event(stage: Stage, topic: str) -> None:
    """Nothing is lost and nothing doubled between the topic and the batches."""
    stage.settle()
    query = stage.query()
    batches = [batch for batch in query.seen() if batch.rows.num_rows]
    if not batches:
        fail(stage, "no batch has any rows")
    for batch in batches:
        batch.mentioned = True
    shown = pa.concat_tables([batch.rows for batch in batches])
    form = shown.drop_columns(["partition"]) if "partition" in shown.column_names else shown
    check_equal(stage, form, _events_as(stage, topic, form.schema), f'what was shown of "{topic}"')


@then("no two batches start in the same interval of {seconds:d} second")
@then("no two batches start in the same interval of {seconds:d} seconds")
def batches_are_paced(stage: Stage, seconds: int) -> None:
    """The trigger paces the batches. Spark cuts time into intervals and starts one batch in each, or a little later
    where the one before took longer."""
    starts = [report.started for report in stage.query().progress() if report.rows_in]
    if len(starts) < 3:
        fail(stage, f"only {len(starts)} batches with rows: too few to tell their pace")
    for earlier, later in pairwise(starts):
        if int(earlier.timestamp()) // seconds == int(later.timestamp()) // seconds:
            fail(stage, f"batches started at {earlier} and {later}, in the same interval of {seconds} s")


@then("batch {number:d} is printed as:")
def batch_is_printed_as(stage: Stage, number: int, docstring: str) -> None:
    """What a person sees of the batch, to the letter."""
    batch = _seen(stage, stage.query(), number)
    printed = batch.printed.strip()
    if printed != docstring.strip():
        fail(stage, f"batch {number} was printed as:\n{printed}\n\nand the feature says:\n{docstring.strip()}")


def _seen(stage: Stage, query: StagedQuery, number: int) -> SeenBatch:
    stage.settle()
    batch = query.batch(number)
    if batch is None:
        numbers = [each.number for each in query.seen_in_start()]
        fail(stage, f"batch {number} of the {query.name} has not come; there are {numbers or 'none'}")
    batch.mentioned = True
    return batch


def _check_empty(stage: Stage, query: StagedQuery, number: int) -> None:
    batch = _seen(stage, query, number)
    if batch.rows.num_rows:
        rows = "\n".join(f"  {row}" for row in batch.rows.to_pylist())
        fail(stage, f"batch {number} is not empty:\n{rows}")


def _latest(stage: Stage, query: StagedQuery) -> BatchProgress:
    stage.settle()
    reports = query.progress()
    if not reports:
        fail(stage, f"the {query.name} has not reported any batch")
    return reports[-1]


def _check_watermark(stage: Stage, report: BatchProgress | None, expected: datetime, what: str) -> None:
    actual = report.watermark if report else None
    if actual != expected:
        fail(stage, f"{what} is {stage.clock(actual)}, and the feature says {stage.clock(expected)}")


def _check_dropped(stage: Stage, query: StagedQuery, expected: int) -> None:
    stage.settle()
    if not query.progress():
        fail(stage, f"the {query.name} has not reported any batch: nothing was looked at")
    actual = query.rows_dropped()
    if actual != expected:
        dropped = counted(actual, "row")
        fail(stage, f"the watermark of the {query.name} dropped {dropped}, and the feature says {expected}")
    query.staged.mention_drops(query.which, expected)


def _events_as(stage: Stage, topic: str, schema: pa.Schema) -> pa.Table:
    stage.topic(topic).read_on(stage.patience)
    read = stage.cells()
    rows = []
    for message in stage.topic(topic).seen:
        fields = json.loads(message.value())
        rows.append(
            {field.name: read.value(Cell(str(fields[field.name]), field.name, 0), field.type) for field in schema}
        )
    return pa.Table.from_pylist(rows, schema=schema)
