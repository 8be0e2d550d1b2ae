"""A heading of a table: a column's name and, if the feature says so, its type."""

import inspect
import re
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from headgate.compare.grid import Cell
from headgate.errors import FeatureMistake, StepFailure

TYPED = re.compile(r"(?P<name>[^:]+):\s*(?P<type>.+)")
ANY = "any"
# Spark 4.0 takes UTC by itself.
IN_UTC = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_type).parameters else {}
LOOKS = {
    "whole numbers": re.compile(r"-?\d+"),
    "numbers with a point": re.compile(r"-?\d+\.\d+([eE][-+]?\d+)?"),
    "true and false": re.compile(r"true|false"),
}


@dataclass(frozen=True)
class Heading:
    """`price:double`, `price:any` or `price`."""

    column: str
    """As the table has it."""
    name: str
    said: str | None

    @classmethod
    def of(cls, column: str) -> "Heading":
        """Read a heading."""
        found = TYPED.fullmatch(column)
        return cls(column, found["name"].strip(), found["type"].strip()) if found else cls(column, column, None)

    def type(self, line: int) -> pa.DataType:
        """The type that it says."""
        try:
            return to_arrow_type(DataType.fromDDL(str(self.said)), **IN_UTC)
        except (PySparkException, TypeError):
            raise FeatureMistake(f"line {line}: '{self.said}' is not a type of Spark SQL, such as bigint") from None

    def check_type(self, actual: pa.DataType, cells: list[Cell], what: str, line: int) -> None:
        """A count that has become text, or a long that has become a double, is a difference."""
        if self.said == ANY:
            return
        if self.said is not None:
            if not _same(self.type(line), actual):
                raise StepFailure(f"the column '{self.name}' of {what} is {actual}, and the feature says {self.said}")
            return
        looks = _looks(cells)
        if looks is not None and looks not in _possible_looks(actual):
            raise StepFailure(
                f"the column '{self.name}' of {what} is {actual}, and the feature writes {looks} (line {line}): write "
                f'text as "1" and doubles as 1.0, or head the column {self.name}:any if the type does not matter'
            )


def _looks(cells: list[Cell]) -> str | None:
    texts = [cell.text for cell in cells if cell.text != "null"]
    return next((name for name, look in LOOKS.items() if texts and all(map(look.fullmatch, texts))), None)


def _possible_looks(kind: pa.DataType) -> tuple[str, ...]:
    if pa.types.is_integer(kind):
        return ("whole numbers",)
    if pa.types.is_floating(kind):
        return ("numbers with a point",)
    if pa.types.is_decimal(kind):
        return ("whole numbers", "numbers with a point")
    return ("true and false",) if pa.types.is_boolean(kind) else ()


def _same(said: pa.DataType, actual: pa.DataType) -> bool:
    if pa.types.is_timestamp(said) and pa.types.is_timestamp(actual):
        # Spark's zone is the session's, and says nothing of the type.
        return (said.tz is None) == (actual.tz is None)
    return bool(said == actual)
