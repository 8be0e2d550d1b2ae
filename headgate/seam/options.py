"""Leads the options of readers and writers: broker, topics, offsets, places."""

import re
from collections.abc import Mapping

from headgate.seam.world import World

OFFSETS = ("startingoffsets", "endingoffsets", "startingoffsetsbytimestamp", "endingoffsetsbytimestamp", "assign")
SECURITY = ("kafka.security.", "kafka.sasl.", "kafka.ssl.")
PLACES = ("path", "checkpointlocation")
# What a scenario waits for. Batches further apart than this come as fast as they can.
LONGEST_PACE = 20.0
SECONDS = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0}
INTERVAL = re.compile(rf"(\d+)\s*({'|'.join(SECONDS)})s?")


def led_option(world: World, key: str, value: object) -> object | None:
    """The value for this scenario; None where the option is to be left out."""
    name = key.lower()
    if name.startswith(SECURITY):
        world.led[f"option {key}"] = "left out"
        return None
    if name == "kafka.bootstrap.servers":
        world.led[f"broker {value}"] = world.kafka
        return world.kafka
    if name == "kafka.group.id":
        return f"{value}-{world.suffix}"
    if name == "subscribepattern":
        return world.topic_pattern(str(value))
    if name == "subscribe":
        for each in str(value).split(","):
            world.make_topic(world.plain_topic(each.strip()))
    if name in ("subscribe", "topic"):
        return world.topics(str(value))
    if name in OFFSETS:
        return world.offsets(str(value))
    if name in PLACES:
        return world.place(str(value))
    return value


def led_trigger(world: World, how: Mapping[str, object]) -> dict[str, object]:
    """The trigger for this scenario: a long pace is not waited for, and all batches are micro-batches."""
    paced = "processingTime" in how and _seconds(str(how["processingTime"])) > LONGEST_PACE
    if not paced and not how.keys() & {"continuous", "realTime"}:
        return dict(how)
    ((kind, value),) = how.items()
    world.led[f"trigger {kind} {value}"] = "processingTime 0 seconds"
    return {"processingTime": "0 seconds"}


def _seconds(interval: str) -> float:
    return sum(int(number) * SECONDS[unit] for number, unit in INTERVAL.findall(interval.lower()))
