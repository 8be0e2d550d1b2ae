"""Leads the options of readers and writers: broker, topics, offsets, places."""

from headgate.seam.world import World

OFFSETS = ("startingoffsets", "endingoffsets", "startingoffsetsbytimestamp", "endingoffsetsbytimestamp", "assign")
SECURITY = ("kafka.security.", "kafka.sasl.", "kafka.ssl.")
PLACES = ("path", "checkpointlocation")


def led_option(world: World, key: str, value: object) -> object | None:
    """The value for this scenario; None where the option is to be left out."""
    name = key.lower()
    if name.startswith(SECURITY):
        return None
    if name == "kafka.bootstrap.servers":
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
