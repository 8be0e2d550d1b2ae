"""Visits made up from a seed: the same recipe gives the very same records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from functools import lru_cache
from itertools import count as count_up
from random import Random
from typing import NamedTuple

NAMED_PAGES = ("main", "home", "index", "about", "contact", "categories")
NUMBERED_PAGES = 20
# Every named page is as frequent as all categories, or all numbered pages, together.
PAGES = (
    *(page for page in NAMED_PAGES for _ in range(NUMBERED_PAGES)),
    *(f"category_{number}" for number in range(1, NUMBERED_PAGES + 1)),
    *(f"page_{number}" for number in range(1, NUMBERED_PAGES + 1)),
)
MINUTES_ON_A_PAGE = (1, 2, 3, 4, 5)
MINUTES_OF_A_DAY = 24 * 60
CLOCK = tuple(f"{minute // 60:02}:{minute % 60:02}" for minute in range(MINUTES_OF_A_DAY))


class Fate(IntEnum):
    """What becomes of an event on its way out."""

    ON_TIME = 0
    LATE = 1
    MALFORMED = 2
    DUPLICATE = 3


class Record(NamedTuple):
    """What goes to the topic; the key keeps the events of a visit in one partition."""

    key: bytes
    value: bytes | None
    fate: Fate


@dataclass(frozen=True)
class Recipe:
    """All that decides which records come out."""

    seed: int
    start: datetime
    visits: int = 10
    count: int | None = None
    late: float = 0.0
    late_by: timedelta = timedelta(minutes=60)
    duplicate: float = 0.0
    malformed: float = 0.0


class Click(NamedTuple):
    """A visit is on a page, so many minutes after the midnight before the start."""

    visit_id: str
    minute: int
    page: str


def records(recipe: Recipe) -> Iterator[Record]:
    """The records in the order in which they are sent; a duplicate follows its original and is not counted."""
    # One source of chance each: asking for duplicates, say, changes nothing in the rest.
    fates, duplicates = _chance(recipe, "fate").random, _chance(recipe, "duplicate").random
    late, sound, duplicate = recipe.late, 1.0 - recipe.malformed, recipe.duplicate
    on_time_value, late_value, malformed_value = _on_time(recipe), _late(recipe), _malformed(recipe)
    on_time, was_late, malformed = Fate.ON_TIME, Fate.LATE, Fate.MALFORMED
    for click in _clicks(recipe):
        key = click[0].encode()
        fate = fates()
        if fate < late:
            record = Record(key, late_value(click), was_late)
        elif fate >= sound:
            record = Record(key, malformed_value(click), malformed)
        else:
            record = Record(key, on_time_value(click), on_time)
        yield record
        if duplicates() < duplicate:
            yield record._replace(fate=Fate.DUPLICATE)


def most_events(start: datetime, visits: int) -> int:
    """How many events there can be before a visit's time gets past the year 9999."""
    rounds = (datetime.max - start) // timedelta(minutes=max(MINUTES_ON_A_PAGE))
    return rounds * visits


def _chance(recipe: Recipe, purpose: str) -> Random:
    return Random(f"{recipe.seed} {purpose}")


def _clicks(recipe: Recipe) -> Iterator[Click]:
    """Round after round, each visit goes to its next page."""
    chance = _chance(recipe, "visit")
    run = chance.randrange(10**14, 10**15)
    visit_ids = [f"{run}_{number}" for number in range(recipe.visits)]
    minutes = [recipe.start.hour * 60 + recipe.start.minute] * recipe.visits
    left = recipe.count or most_events(recipe.start, recipe.visits)
    for round_number in count_up():
        if round_number:
            spent = chance.choices(MINUTES_ON_A_PAGE, k=recipe.visits)
            minutes = [minute + more for minute, more in zip(minutes, spent, strict=True)]
        clicks = map(Click, visit_ids, minutes, chance.choices(PAGES, k=recipe.visits))
        if left <= recipe.visits:
            yield from (click for click, _ in zip(clicks, range(left), strict=False))
            return
        yield from clicks
        left -= recipe.visits


def _on_time(recipe: Recipe) -> Callable[[Click], bytes]:
    time_text = _clock_of(recipe)
    return lambda click: _value(click[0], time_text(click[1]), click[2])


def _late(recipe: Recipe) -> Callable[[Click], bytes]:
    midnight = _midnight_before(recipe) - recipe.late_by
    return lambda click: _value(click[0], (midnight + timedelta(minutes=click[1])).isoformat(), click[2])


def _malformed(recipe: Recipe) -> Callable[[Click], bytes | None]:
    """Each kind of malformed value in turn."""
    time_text = _clock_of(recipe)
    turn = count_up()

    def value(click: Click) -> bytes | None:
        kind = MALFORMED_KINDS[next(turn) % len(MALFORMED_KINDS)]
        return kind(click[0], time_text(click[1]), click[2])

    return value


def _clock_of(recipe: Recipe) -> Callable[[int], str]:
    """Turns minutes into text; from tables, as datetime is slow in comparison."""
    first_day = recipe.start.date()
    below_minute = recipe.start.time().replace(hour=0, minute=0).isoformat()[len("00:00") :]

    @lru_cache(maxsize=10_000)
    def day_text(day: int) -> str:
        return f"{(first_day + timedelta(days=day)).isoformat()}T"

    def time_text(minutes: int) -> str:
        day, minute = divmod(minutes, MINUTES_OF_A_DAY)
        return f"{day_text(day)}{CLOCK[minute]}{below_minute}"

    return time_text


def _midnight_before(recipe: Recipe) -> datetime:
    return recipe.start - timedelta(hours=recipe.start.hour, minutes=recipe.start.minute)


def _value(visit_id: str, time: str, page: str) -> bytes:
    # Nothing in here needs JSON's escapes, and json.dumps takes several times as long.
    return f'{{"visit_id": "{visit_id}", "event_time": "{time}", "page": "{page}"}}'.encode()


def _not_json(visit_id: str, time: str, page: str) -> bytes:
    return _value(visit_id, time, page)[:-1]


def _wrong_type(visit_id: str, time: str, page: str) -> bytes:
    return f'{{"visit_id": "{visit_id}", "event_time": ["{time}"], "page": "{page}"}}'.encode()


def _no_event_time(visit_id: str, time: str, page: str) -> bytes:  # noqa: ARG001
    return f'{{"visit_id": "{visit_id}", "page": "{page}"}}'.encode()


def _unparsable_event_time(visit_id: str, time: str, page: str) -> bytes:  # noqa: ARG001
    return _value(visit_id, "yesterday", page)


def _null(visit_id: str, time: str, page: str) -> None:  # noqa: ARG001
    return None


def _invalid_utf8(visit_id: str, time: str, page: str) -> bytes:
    return _value(visit_id, time, page)[:-2] + b'\xff"}'


MALFORMED_KINDS: tuple[Callable[[str, str, str], bytes | None], ...] = (
    _not_json,
    _wrong_type,
    _no_event_time,
    _unparsable_event_time,
    _null,
    _invalid_utf8,
)
