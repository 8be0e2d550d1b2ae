"""The one option vocabulary of all jobs."""

import argparse
from datetime import timedelta

from headgate.command.words import positive
from jobs.command.text import address, duration, key_value, plain, topic_name, watermark_delay

TOPIC_OPTIONS = ("topic", "output_topic", "dead_letter_topic")


def add_kafka(parser: argparse.ArgumentParser) -> None:
    """How to reach Kafka."""
    group = parser.add_argument_group("Kafka")
    group.add_argument(
        "--kafka", metavar="HOST:PORT", type=address, help="the broker; left out, an embedded one is started"
    )
    group.add_argument(
        "--kafka-option",
        metavar="KEY=VALUE",
        type=key_value,
        action="append",
        default=[],
        help="any setting of the Kafka client, such as security.protocol=SASL_SSL; "
        "VALUE may be env:NAME or file:PATH, and is never printed",
    )


def add_spark(parser: argparse.ArgumentParser) -> None:
    """Where and how Spark runs."""
    group = parser.add_argument_group("Spark")
    group.add_argument("--master", default="local[2]", help="Spark's master (%(default)s)")
    group.add_argument(
        "--conf", metavar="KEY=VALUE", type=key_value, action="append", default=[], help="any setting of Spark"
    )
    group.add_argument("--time-zone", default="UTC", help="the zone of times without one, and of output (%(default)s)")
    group.add_argument("--verbose", action="store_true", help="show Spark's own log and whole error traces")


def add_streaming(
    parser: argparse.ArgumentParser,
    topic: str = "visits",
    trigger: timedelta | None = None,
    max_offsets_per_trigger: int | None = None,
    max_value_bytes: int = 512 * 1024,
) -> None:
    """What every streaming job takes."""
    add_kafka(parser)
    group = parser.add_argument_group("stream")
    group.add_argument("--topic", type=topic_name, default=topic, help="the input topic (%(default)s)")
    group.add_argument(
        "--send",
        metavar="FILE",
        help="send the lines of FILE (- for standard input) to the embedded Kafka first: VALUE, or KEY tab VALUE",
    )
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="where progress is kept (checkpoints/JOB; with an embedded broker, a fresh folder)",
    )
    group.add_argument(
        "--trigger",
        metavar="'N seconds'",
        type=duration,
        default=trigger,
        help=f"how often a batch starts ({plain(trigger) if trigger else 'as soon as there is data'})",
    )
    group.add_argument(
        "--max-offsets-per-trigger",
        metavar="N",
        type=positive,
        default=max_offsets_per_trigger,
        help=f"the most records of one batch ({max_offsets_per_trigger or 'no limit'})",
    )
    group.add_argument("--available-now", action="store_true", help="process what is there, then end")
    group.add_argument(
        "--allow-data-loss",
        dest="fail_on_data_loss",
        action="store_false",
        help="go on where records that the checkpoint needs are gone from the topic; otherwise the job fails",
    )
    group = parser.add_argument_group("bad records")
    group.add_argument(
        "--on-bad-record",
        choices=["dead-letter", "fail"],
        default="dead-letter",
        help="what to do with a record that cannot be read (%(default)s)",
    )
    group.add_argument(
        "--dead-letter-topic",
        metavar="TOPIC",
        type=topic_name,
        help="where it goes (the input topic's name with -rejected; made if it is not there)",
    )
    group.add_argument(
        "--max-value-bytes",
        metavar="N",
        type=positive,
        default=max_value_bytes,
        help="a longer value is bad (%(default)s)",
    )
    add_spark(parser)


def add_output_topic(parser: argparse.ArgumentParser, topic: str) -> None:
    """Where results go."""
    parser.add_argument(
        "--output-topic", metavar="TOPIC", type=topic_name, default=topic, help="the output topic (%(default)s)"
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Which Delta table."""
    parser.add_argument(
        "--table", metavar="DIR", default="visits_table", help="the Delta table of raw visits (%(default)s)"
    )


def add_window(parser: argparse.ArgumentParser, window: timedelta) -> None:
    """How long a window is."""
    parser.add_argument("--window", metavar="'N minutes'", type=duration, default=window, help=f"({plain(window)})")


def add_watermark(parser: argparse.ArgumentParser, delay: timedelta) -> None:
    """How late an event may come."""
    parser.add_argument(
        "--watermark",
        metavar="'N minutes'",
        type=watermark_delay,
        default=delay,
        help=f"how late an event may come ({plain(delay)})",
    )
