"""Cells are read as values of Spark's types, or refused with their place."""

from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from headgate.compare.cells import CellReader, json_value
from headgate.compare.grid import Cell
from headgate.errors import FeatureMistake

DAY = date(2025, 9, 4)
WINDOW = pa.struct([("start", pa.timestamp("us", "UTC")), ("end", pa.timestamp("us", "UTC"))])


def read(text: str, kind: pa.DataType, zone: str = "UTC") -> object:
    return CellReader(DAY, zone).value(Cell(text, "a column", 7), kind)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1", pa.int64(), 1),
        ("-2", pa.int32(), -2),
        ("1.5", pa.float64(), 1.5),
        ("1.50", pa.decimal128(5, 2), Decimal("1.50")),
        ("true", pa.bool_(), True),
        ("false", pa.bool_(), False),
        ("text", pa.string(), "text"),
        ('"null"', pa.string(), "null"),
        ("null", pa.string(), None),
        ("2025-09-04", pa.date32(), DAY),
        ("[1, 2]", pa.list_(pa.int64()), [1, 2]),
        ('{"a": 1}', pa.struct([("a", pa.int64())]), {"a": 1}),
        ("07:00", pa.timestamp("us", "UTC"), datetime(2025, 9, 4, 7, tzinfo=UTC)),
        ("7:00", pa.timestamp("us", "UTC"), datetime(2025, 9, 4, 7, tzinfo=UTC)),
        ("07:00:01.5", pa.timestamp("us", "UTC"), datetime(2025, 9, 4, 7, 0, 1, 500000, tzinfo=UTC)),
        ("2024-01-01 07:00", pa.timestamp("us", "UTC"), datetime(2024, 1, 1, 7, tzinfo=UTC)),
        (
            "07:00 to 07:10",
            WINDOW,
            {"start": datetime(2025, 9, 4, 7, tzinfo=UTC), "end": datetime(2025, 9, 4, 7, 10, tzinfo=UTC)},
        ),
    ],
)
def test_value(text: str, kind: pa.DataType, value: object) -> None:
    assert read(text, kind) == value


def test_time_is_of_the_scenarios_zone() -> None:
    assert read("07:00", pa.timestamp("us", "UTC"), "Europe/Paris") == datetime(2025, 9, 4, 5, tzinfo=UTC)
    assert read("07:00", pa.timestamp("us", "UTC"), "Europe/Paris").tzinfo == ZoneInfo("Europe/Paris")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("one", pa.int64()),
        ("yes", pa.bool_()),
        ("x", pa.decimal128(5, 2)),
        ("25:00", pa.timestamp("us", "UTC")),
        ("07:00", WINDOW),
        ("07:00 to noon", WINDOW),
    ],
)
def test_refused_with_its_place(text: str, kind: pa.DataType) -> None:
    with pytest.raises(FeatureMistake, match=f"line 7, column 'a column', cell '{text}'"):
        read(text, kind)


def test_time_without_a_day_is_refused() -> None:
    with pytest.raises(FeatureMistake, match="the day is"):
        CellReader(None, "UTC").value(Cell("07:00", "a column", 7), pa.timestamp("us", "UTC"))


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("1.5", 1.5), ("true", True), ("null", None), ("x", "x"), ('"1"', "1")]
)
def test_fields_of_events(text: str, value: object) -> None:
    assert json_value(text) == value
