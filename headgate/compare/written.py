"""A step's table as rows to be written: types from the header where it says them, or else from the cells."""

import re

import pyarrow as pa

from headgate.compare.cells import CLOCK, CellReader
from headgate.compare.grid import Cell, Grid
from headgate.compare.headings import Heading

MOMENT = pa.timestamp("us", tz="UTC")
GUESSES = (
    (re.compile(r"-?\d+"), pa.int64()),
    (re.compile(r"-?\d+(\.\d+)?"), pa.float64()),
    (re.compile(r"true|false"), pa.bool_()),
    (re.compile(rf"(\d{{4}}-\d{{2}}-\d{{2}}[ T])?{CLOCK.pattern}"), MOMENT),
)
NOT_COLUMNS = ("why",)


def typed_table(grid: Grid, read: CellReader) -> pa.Table:
    """The rows with a type for each column; `price:double` gives it, and a `why` column is for the reader alone."""
    fields, columns = [], []
    for column in grid.columns:
        if column in NOT_COLUMNS:
            continue
        cells = [row[column] for row in grid]
        heading = Heading.of(column)
        kind = heading.type(grid.line) if heading.said else _guessed_type(cells)
        fields.append(pa.field(heading.name, kind))
        columns.append(pa.array([read.value(cell, kind) for cell in cells], kind))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _guessed_type(cells: list[Cell]) -> pa.DataType:
    texts = [cell.text for cell in cells if cell.text != "null"]
    for pattern, kind in GUESSES:
        if texts and all(pattern.fullmatch(text) for text in texts):
            return kind
    return pa.string()
