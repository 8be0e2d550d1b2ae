"""Prints batches as the documents show them."""

import sys
from typing import TextIO

from pyspark.sql import DataFrame

RULE = "-" * 43


def print_batch(batch: DataFrame, number: int, out: TextIO | None = None) -> None:
    """The batch under its number, as Spark's console sink prints it."""
    out = out or sys.stdout
    # Read as a whole: Spark 4.2 fails a stateful batch of which show() left a partition unread.
    rows = batch.sparkSession.createDataFrame(batch.toArrow())
    table = rows._jdf.showString(10_000, 0, False)  # DataFrame.show() has no way to give the text back
    print(f"{RULE}\nBatch: {number}\n{RULE}\n{table}", file=out, flush=True)
