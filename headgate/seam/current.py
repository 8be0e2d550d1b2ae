"""Knows which program the running code belongs to; code of no program sees PySpark untouched."""

import io
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headgate.seam.program import Program

PROGRAM: ContextVar["Program | None"] = ContextVar("program", default=None)
BATCH_OUTPUT: ContextVar[io.StringIO | None] = ContextVar("batch_output", default=None)


def current() -> "Program | None":
    """The program that is running here."""
    return PROGRAM.get()
