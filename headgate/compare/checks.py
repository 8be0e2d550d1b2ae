"""One way to compare, and one way to tell what is different; the report adds the account of the scenario."""

from typing import NoReturn

import pyarrow as pa

from headgate.compare.frames import difference
from headgate.errors import StepFailure
from headgate.stage.stage import Stage


def check_equal(stage: Stage, actual: pa.Table, expected: pa.Table, what: str) -> None:
    """Fail with chispa's difference."""
    found = difference(stage.spark, actual, expected)
    if found is not None:
        fail(stage, f"{what} is not what the feature says (left: what came, right: what the feature says):\n{found}")


def fail(stage: Stage, message: str) -> NoReturn:
    """Fail the step."""
    raise StepFailure(stage.without_suffix(message))


def counted(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
