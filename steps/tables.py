"""Sentences about Delta tables: those that are there beforehand, and what programs make of them."""

from pathlib import Path
from urllib.parse import unquote, urlparse

from headgate.compare.checks import check_equal, fail
from headgate.compare.frames import expected_table
from headgate.compare.written import typed_table
from headgate.stage.stage import Stage

from .sentences import given, then, when


@given('a table "{name}" with these rows:')
@given('the table "{name}" with these rows:')
def a_table_with_rows(stage: Stage, name: str) -> None:
    """A Delta table of this name, or at this path where there is a slash. A heading may say its column's type, as in
    `price:double`; else it follows from the cells."""
    stage.add_rows(name, typed_table(stage.grid(), stage.cells()))


@when('these rows are added to the table "{name}":')
def rows_are_added(stage: Stage, name: str) -> None:
    """One more version of the table, made by somebody else; every running job may then read it."""
    stage.add_rows(name, typed_table(stage.grid(), stage.cells()))
    stage.settle()


@then('the table "{name}" is at version {version:d}')
def table_is_at_version(stage: Stage, name: str, version: int) -> None:
    """The newest file in the table's log; every version down to 0 is there with its checksum."""
    log = stage.mention_table(name) / "_delta_log"
    shown = sorted(each.name for each in log.glob("*.json"))
    expected = [f"{number:020}.json" for number in range(version + 1)]
    if shown != expected:
        fail(stage, f'the log of table "{name}" has {shown or "nothing"}')
    without_checksum = [each for each in expected if not (log / each.replace(".json", ".crc")).is_file()]
    if without_checksum:
        fail(stage, f'the log of table "{name}" lacks the .crc of {without_checksum}')


@then('the log of the table "{name}" lists:')
def log_of_table_lists(stage: Stage, name: str, docstring: str) -> None:
    """What `ls` shows of the table's log."""
    log = stage.mention_table(name) / "_delta_log"
    shown = sorted(each.name for each in log.iterdir() if not each.name.startswith("."))
    expected = docstring.split()
    if shown != sorted(expected):
        fail(stage, f'the log of table "{name}" has:\n' + "\n".join(shown))


@then('the table "{name}" holds:')
def table_holds(stage: Stage, name: str) -> None:
    """The table has just these rows, compared in the columns mentioned."""
    rows = stage.rows_of(stage.mention_table(name))
    expected = expected_table(stage.grid(), rows, stage.cells(), f"the table '{name}'", some_columns=True)
    check_equal(stage, rows, expected, f'the table "{name}"')


@then('the table "{name}" has these partitions:')
def table_has_partitions(stage: Stage, name: str, docstring: str) -> None:
    """The folders that hold data of the table's current version, each named once."""
    path = stage.mention_table(name)
    files = stage.session().read.format("delta").load(str(path)).inputFiles()
    shown = sorted({str(Path(unquote(urlparse(file).path)).parent.relative_to(path)) for file in files})
    if shown != sorted(docstring.split()):
        fail(stage, f'the table "{name}" has the partitions:\n' + "\n".join(shown))
