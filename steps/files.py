"""Sentences about folders of files: those that are there beforehand, those that arrive, those that programs write."""

from headgate.compare.checks import check_equal
from headgate.compare.frames import expected_table
from headgate.compare.written import typed_table
from headgate.stage.stage import Stage

from .sentences import given, then, when


@given('a folder "{path}"')
def an_empty_folder(stage: Stage, path: str) -> None:
    """A folder without files, where a program that reads this path finds it."""
    stage.folder_of(path)


@given('a file "{path}" with:')
def a_file(stage: Stage, path: str, docstring: str) -> None:
    """A file with this text, where a program that reads this path finds it."""
    stage.put_file(path, docstring)


@when('a file "{path}" arrives with:')
def a_file_arrives(stage: Stage, path: str, docstring: str) -> None:
    """The same while programs run; it appears whole, and every running job processes it."""
    stage.put_file(path, docstring)
    stage.settle()


@given('a folder "{path}" of {form} files with these rows:')
def a_folder(stage: Stage, path: str, form: str) -> None:
    """A folder with the rows in a file of this format: parquet, json, csv, orc or text. A heading may say its
    column's type, as in `price:double`."""
    stage.put_rows(path, form, typed_table(stage.grid(), stage.cells()))


@when('these rows arrive in the folder "{path}" as {form}:')
def rows_arrive(stage: Stage, path: str, form: str) -> None:
    """One more file in the folder; every running job processes it."""
    stage.put_rows(path, form, typed_table(stage.grid(), stage.cells()))
    stage.settle()


@then('the files in "{path}" hold:')
def files_hold(stage: Stage, path: str) -> None:
    """The folder has just these rows, compared in the columns mentioned."""
    folder = stage.mention_table(path)
    rows = stage.rows_of(folder)
    has_no_types = stage.written_as(folder).form in ("csv", "text")
    what = f"the files in '{path}'"
    expected = expected_table(stage.grid(), rows, stage.cells(), what, some_columns=True, are_texts=has_no_types)
    check_equal(stage, rows, expected, f'the files in "{path}"')
