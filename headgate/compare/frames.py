"""Compares results as DataFrames, with chispa."""

from typing import Any

import pyarrow as pa
from chispa import assert_df_equality
from pyspark.sql import SparkSession

from headgate.compare.cells import CellReader
from headgate.compare.grid import Grid
from headgate.compare.headings import Heading
from headgate.errors import FeatureMistake


def expected_table(
    grid: Grid, like: pa.Table, read: CellReader, what: str, *, some_columns: bool = False, are_texts: bool = False
) -> pa.Table:
    """The step's table with the columns of `like`, and their types where the cells allow them.

    A heading may say the type, as in `count:bigint`, or that it does not matter, as in `count:any`.
    """
    headings = [Heading.of(column) for column in grid.columns]
    names = like.schema.names
    for heading in headings:
        if heading.name not in names:
            known = ", ".join(names)
            raise FeatureMistake(f"line {grid.line}: {what} has no column '{heading.name}'; its columns are {known}")
    missing = [name for name in names if name not in {heading.name for heading in headings}]
    if missing and not some_columns:
        raise FeatureMistake(f"line {grid.line}: {what} also has {', '.join(missing)}: mention every column")
    fields, columns = [], []
    for heading in headings:
        cells = [row[heading.column] for row in grid]
        kind = like.schema.field(heading.name).type
        if not are_texts:
            heading.check_type(kind, cells, what, grid.line)
        fields.append(pa.field(heading.name, kind))
        columns.append(pa.array([read.value(cell, kind) for cell in cells], kind))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def difference(spark: SparkSession, actual: pa.Table, expected: pa.Table) -> str | None:
    """What chispa finds different, rows in any order; None when they are equal."""
    actual = actual.select(expected.schema.names)
    try:
        # From Arrow, and sorted here, both are local relations: comparing them runs no Spark job.
        assert_df_equality(
            spark.createDataFrame(_sorted(actual)), spark.createDataFrame(_sorted(expected)), ignore_nullable=True
        )
    except Exception as error:
        if type(error).__module__.startswith("chispa"):
            return str(error)
        raise
    return None


def _sorted(table: pa.Table) -> pa.Table:
    return pa.Table.from_pylist(sorted(table.to_pylist(), key=_order), schema=table.schema)


def _order(row: dict[str, Any]) -> str:
    return repr([str(value) for value in row.values()])
