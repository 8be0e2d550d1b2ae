"""One way to compare, and one way to tell what is different."""

import pyarrow as pa

from headgate.compare.frames import difference
from headgate.errors import StepFailure
from headgate.stage.stage import Stage
from headgate.tell.account import account


def check_equal(stage: Stage, actual: pa.Table, expected: pa.Table, what: str) -> None:
    """Fail with the scenario's account and chispa's difference."""
    found = difference(stage.spark, actual, expected)
    if found is not None:
        fail(stage, f"{what} is not what the feature says (left: what came, right: what the feature says):\n{found}")


def fail(stage: Stage, message: str) -> None:
    """Fail the step with the scenario's account."""
    raise StepFailure(f"{account(stage)}\n\n{stage.without_suffix(message)}")
