"""A step's table, with the place of every cell."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_bdd.parser import Step

from headgate.errors import FeatureMistake


@dataclass(frozen=True)
class Cell:
    """A cell's text and where it stands."""

    text: str
    column: str
    line: int

    def mistake(self, why: str) -> FeatureMistake:
        """The complaint about this cell."""
        return FeatureMistake(f"line {self.line}, column '{self.column}', cell '{self.text}': {why}")


@dataclass(frozen=True)
class Grid:
    """A table under a step: its first row names the columns."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]
    line: int

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.rows)


def grid_of(step: Step) -> Grid:
    """The table under the step."""
    if step.datatable is None:
        raise FeatureMistake(f"line {step.line_number}: a table is missing under '{step.name}'")
    head, *body = step.datatable.rows
    columns = tuple(cell.value for cell in head.cells)
    rows = tuple(
        {name: Cell(cell.value, name, row.location.line) for name, cell in zip(columns, row.cells, strict=True)}
        for row in body
    )
    return Grid(columns, rows, head.location.line)
