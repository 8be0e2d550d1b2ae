"""A half-open range of time that falls on window boundaries."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from jobs.command.job import Refusal
from jobs.command.text import plain

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TimeRange:
    """start <= time < end."""

    start: datetime
    end: datetime


def aligned_range(start_text: str, end_text: str, window: timedelta, zone: str) -> TimeRange:
    """The range as typed; refused where it is none or cuts a window."""
    start, end = _moment(start_text, zone), _moment(end_text, zone)
    if end <= start:
        raise Refusal(f"The range ends at {end_text}, not after its start {start_text}: swap the two or correct one.")
    down, up = start - _past_boundary(start, window), end + (-_past_boundary(end, window) % window)
    if (down, up) != (start, end):
        raise Refusal(
            f"The range {start_text} to {end_text} cuts a window of {plain(window)}, which would be counted too low: "
            f"the nearest whole range is {_shown(down, start_text, zone)} to {_shown(up, end_text, zone)}."
        )
    return TimeRange(start, end)


def _past_boundary(time: datetime, window: timedelta) -> timedelta:
    """How far into its window a time is; Spark counts windows from the epoch."""
    return (time - EPOCH) % window


def _moment(text: str, zone: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Refusal(
            f"'{text}' is not a time: write it like 2025-09-04T07:00:00, with +02:00 or Z to name a zone."
        ) from None
    return time if time.tzinfo else _in_zone(time, zone, text)


def _in_zone(clock: datetime, zone: str, text: str) -> datetime:
    time = clock.replace(tzinfo=ZoneInfo(zone))
    if time.astimezone(UTC).astimezone(time.tzinfo).replace(tzinfo=None) != clock:
        raise Refusal(f"'{text}' never was in {zone}, where clocks were put forward over it: name an offset or Z.")
    if time.utcoffset() != time.replace(fold=1).utcoffset():
        raise Refusal(f"'{text}' was twice in {zone}, where clocks were put back: name the offset, such as +02:00.")
    return time.astimezone(UTC)


def _shown(time: datetime, like: str, zone: str) -> str:
    """The time as the person wrote the other: without a zone where they named none."""
    if datetime.fromisoformat(like).tzinfo:
        return time.astimezone(datetime.fromisoformat(like).tzinfo).isoformat()
    return time.astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat()
