"""Turns words from a command line, or from a feature, into a job's checked options."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jobs.job import AnyJob, Refusal, StreamingJob


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that refuses in one sentence instead of printing its usage and ending the program."""

    def error(self, message: str) -> NoReturn:
        """Refuse."""
        raise Refusal(f"{message[0].upper()}{message[1:]}. See: {self.prog} --help")


def parser_of(job: AnyJob) -> Parser:
    """The parser of one job's options."""
    parser = Parser(
        prog=f"sluice {job.name}",
        description=job.summary,
        epilog=f"example:\n  {job.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    job.add_options(parser)
    return parser


def parse(job: AnyJob, words: Sequence[str]) -> argparse.Namespace:
    """Read the options, fill in what follows from others, and refuse nonsense."""
    options = parser_of(job).parse_args(words)
    options.job = job.name
    options.kafka_option = [_with_secret(setting) for setting in getattr(options, "kafka_option", [])]
    if isinstance(job, StreamingJob):
        options.dead_letter_topic = options.dead_letter_topic or f"{options.topic}-rejected"
        _check_topics(options)
    if hasattr(options, "time_zone"):
        _check_zone(options.time_zone)
    job.check(options)
    return options


def session_settings(job: AnyJob, options: argparse.Namespace) -> dict[str, str]:
    """What the job sets in its Spark session; --conf wins."""
    return {**getattr(job, "settings", {}), "spark.sql.session.timeZone": options.time_zone, **dict(options.conf)}


def _with_secret(setting: tuple[str, str] | str) -> tuple[str, str] | str:
    if isinstance(setting, tuple):
        return setting[0], _secret(setting[1])
    key, equals, value = setting.partition("=")  # rewind-checkpoint takes settings as they are typed
    return f"{key}{equals}{_secret(value)}"


def _secret(value: str) -> str:
    """A value may be kept out of the command line, which other users of the machine can read."""
    kind, _, place = value.partition(":")
    if kind == "env":
        if place not in os.environ:
            raise Refusal(f"The environment has no variable {place}, which --kafka-option asks for.")
        return os.environ[place]
    if kind == "file":
        try:
            return Path(place).read_text().strip()
        except OSError as error:
            raise Refusal(
                f"The file {place}, which --kafka-option asks for, cannot be read: {error.strerror}."
            ) from None
    return value


def _check_topics(options: argparse.Namespace) -> None:
    named = {"--topic": options.topic, "--dead-letter-topic": options.dead_letter_topic}
    if hasattr(options, "output_topic"):
        named["--output-topic"] = options.output_topic
    seen: dict[str, str] = {}
    for option, name in named.items():
        if name in seen:
            raise Refusal(f"{seen[name]} and {option} are both {name}: the job would read what it writes.")
        seen[name] = option


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise Refusal(f"{name} is not a time zone: write it like UTC or Europe/Paris.") from None
