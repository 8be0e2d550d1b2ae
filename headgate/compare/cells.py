"""Reads a cell as a value of a Spark type."""

import json
import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from headgate.compare.grid import Cell

CLOCK = re.compile(r"(\d{1,2}:\d{2})(:\d{2}(\.\d{1,6})?)?")
BETWEEN = re.compile(r"\s+to\s+")


class CellReader:
    """Knows the day and the zone in which the feature's times are meant."""

    def __init__(self, day: date | None, zone: str) -> None:
        self._day = day
        self._zone = ZoneInfo(zone)

    def value(self, cell: Cell, kind: pa.DataType) -> Any:
        """The cell's value; `null` is null, and quotes make text of anything."""
        if cell.text == "null":
            return None
        if pa.types.is_timestamp(kind):
            return self.moment(cell, cell.text)
        if pa.types.is_struct(kind):
            return self._struct(cell, kind)
        try:
            return _plain_value(cell.text, kind)
        except (ValueError, InvalidOperation) as error:
            raise cell.mistake(f"not a value of type {kind}") from error

    def moment(self, cell: Cell, text: str) -> datetime:
        """`07:00`, `2025-09-04 07:00`, or either with seconds or a zone."""
        if CLOCK.fullmatch(text):
            if self._day is None:
                raise cell.mistake("a time without a day: say 'Given the day is …' first, or write the day")
            text = f"{self._day} {text.rjust(5, '0') if text.count(':') == 1 else text}"
        try:
            time = datetime.fromisoformat(text)
        except ValueError as error:
            raise cell.mistake("not a time: write it like 07:00 or 2025-09-04 07:00") from error
        return time if time.tzinfo else time.replace(tzinfo=self._zone)

    def _struct(self, cell: Cell, kind: pa.StructType) -> Any:
        """A window as `07:00 to 07:10`, any other struct as JSON."""
        edges = BETWEEN.split(cell.text)
        if [field.name for field in kind] == ["start", "end"] and len(edges) == 2:
            return {"start": self.moment(cell, edges[0]), "end": self.moment(cell, edges[1])}
        try:
            return json.loads(cell.text)
        except ValueError as error:
            raise cell.mistake("neither a window like '07:00 to 07:10' nor JSON") from error


def _plain_value(text: str, kind: pa.DataType) -> Any:
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[text] if text in ("true", "false") else _no_value()
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_date(kind):
        return date.fromisoformat(text)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    return json.loads(text)


def _no_value() -> Any:
    raise ValueError


def json_value(text: str) -> Any:
    """A cell of an event: numbers and booleans as such, `null`, anything else as text."""
    if re.fullmatch(r"-?\d+|-?\d+\.\d+|true|false|null", text):
        return json.loads(text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
