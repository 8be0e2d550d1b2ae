"""Compares results as DataFrames, with chispa."""

from typing import Any

import pyarrow as pa
from chispa import assert_df_equality
from pyspark.sql import SparkSession

from headgate.compare.cells import CellReader
from headgate.compare.grid import Grid
from headgate.errors import FeatureMistake


def expected_table(grid: Grid, like: pa.Table, read: CellReader, what: str, some_columns: bool = False) -> pa.Table:
    """The step's table with the columns and types of `like`."""
    names = like.schema.names
    grid.check_columns(names, what)
    missing = [name for name in names if name not in grid.columns]
    if missing and not some_columns:
        raise FeatureMistake(f"line {grid.line}: {what} also has {', '.join(missing)}: mention every column")
    schema = pa.schema([like.schema.field(name) for name in grid.columns])
    rows = [{field.name: read.value(row[field.name], field.type) for field in schema} for row in grid]
    return pa.Table.from_pylist(rows, schema=schema)


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
