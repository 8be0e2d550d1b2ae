"""Reads what people type: durations, addresses, settings."""

import argparse
import re
from datetime import timedelta

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
DURATION = re.compile(r"\s*(-?\d+)\s*([a-z]+?)s?\s*", re.IGNORECASE)


def duration(text: str) -> timedelta:
    """A positive duration such as `10 minutes`."""
    found = DURATION.fullmatch(text)
    if found is None or found.group(2).lower() not in UNITS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a duration: write it like '10 minutes' or '20 seconds'")
    length = timedelta(seconds=int(found.group(1)) * UNITS[found.group(2).lower()])
    if length <= timedelta():
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive duration")
    return length


def watermark_delay(text: str) -> timedelta:
    """A duration that may be zero: how late an event may come."""
    return timedelta() if re.fullmatch(r"\s*0\s*[a-z]*\s*", text) else duration(text)


def spark_interval(length: timedelta) -> str:
    """The duration as Spark reads it."""
    return f"{int(length.total_seconds())} seconds"


def plain(length: timedelta) -> str:
    """The duration as a person writes it."""
    seconds = int(length.total_seconds())
    for unit, size in reversed(UNITS.items()):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"


def address(text: str) -> str:
    """One or more HOST:PORT, separated by commas."""
    for each in text.split(","):
        host, _, port = each.strip().rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise argparse.ArgumentTypeError(f"'{each}' is not HOST:PORT")
    return text


def topic_name(text: str) -> str:
    """A name that Kafka takes."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", text) or text in (".", ".."):
        raise argparse.ArgumentTypeError(f"'{text}' is not a topic's name: letters, digits, '.', '_' and '-' only")
    return text


def key_value(text: str) -> tuple[str, str]:
    """KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    return key.strip(), value
