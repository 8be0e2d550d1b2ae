"""Reads JSON that may have been damaged, without believing anything about its shape."""

import json
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def json_or_none(text: str) -> Any:
    """What the text says; nothing when it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def part(found: Any, key: str, kind: type[Kind]) -> Kind | None:
    """What an object has under a key; nothing when it is another kind of thing, or no object."""
    value = found.get(key) if isinstance(found, dict) else None
    # JSON's true is no number, but Python's is.
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def json_start_or_none(text: str) -> Any:
    """What a text begins with, whatever comes after it."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
