"""Sentences about the day and the zone that times are meant in."""

from datetime import date

from headgate.errors import FeatureMistake
from headgate.stage.stage import Stage

from .sentences import given


@given("the day is {day}")
def the_day_is(stage: Stage, day: str) -> None:
    """Times such as 07:00 are of this day."""
    try:
        stage.day = date.fromisoformat(day)
    except ValueError:
        raise FeatureMistake(f"'{day}' is not a day: write it like 2025-09-04") from None


@given("the time zone is {zone}")
def the_time_zone_is(stage: Stage, zone: str) -> None:
    """Times without a zone are of this one, for the feature and for the jobs; UTC otherwise."""
    stage.zone = zone
