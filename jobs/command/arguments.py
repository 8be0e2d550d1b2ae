"""Turns words from a command line, or from a feature, into a job's checked options."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headgate.command.words import Parser, read_secrets
from jobs.command.checkpoint_owner import is_begun, refuse_foreign
from jobs.command.job import AnyJob, Refusal, StreamingJob


def parser_of(job: AnyJob) -> Parser:
    """The parser of one job's options."""
    parser = Parser(
        prog=f"headgate run {job.name}",
        description=job.summary,
        epilog="example:\n" + indent(job.example, "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    job.add_options(parser)
    return parser


def parse(job: AnyJob, words: Sequence[str]) -> argparse.Namespace:
    """Read the options, fill in what follows from others, and refuse nonsense."""
    options = parser_of(job).parse_args(words)
    options.job = job.name
    read_secrets(options)
    if isinstance(job, StreamingJob):
        options.dead_letter_topic = options.dead_letter_topic or f"{options.topic}-rejected"
        _check_topics(options)
        _check_input(options)
        _check_checkpoint(options)
        if hasattr(options, "table"):
            _check_table(options.table)
    if hasattr(options, "time_zone"):
        _check_zone(options.time_zone)
    job.check(options)
    return options


def session_settings(job: AnyJob, options: argparse.Namespace) -> dict[str, str]:
    """What the job sets in its Spark session; --conf wins."""
    return {**getattr(job, "settings", {}), "spark.sql.session.timeZone": options.time_zone, **dict(options.conf)}


def _check_topics(options: argparse.Namespace) -> None:
    named = {"--topic": options.topic, "--dead-letter-topic": options.dead_letter_topic}
    if hasattr(options, "output_topic"):
        named["--output-topic"] = options.output_topic
    seen: dict[str, str] = {}
    for option, name in named.items():
        if name in seen:
            raise Refusal(f"{seen[name]} and {option} are both {name}: the job would read what it writes.")
        seen[name] = option


def _check_input(options: argparse.Namespace) -> None:
    if options.send is None:
        return
    if options.kafka is not None:
        raise Refusal("--send fills the topic of an embedded Kafka: leave --kafka out, or send with a Kafka client.")
    if options.send != "-" and not Path(options.send).is_file():
        raise Refusal(f"There is no file {options.send}, which --send asks for.")


def _check_checkpoint(options: argparse.Namespace) -> None:
    if options.checkpoint is None:
        # An embedded Kafka begins empty, and so must the checkpoint: the runner makes one.
        options.checkpoint = f"checkpoints/{options.job}" if options.kafka else None
    elif options.kafka is None and is_begun(options.checkpoint):
        raise Refusal(
            f"The checkpoint {options.checkpoint} is of another Kafka than the embedded one, which begins empty: "
            "give --kafka, or another --checkpoint."
        )
    if options.checkpoint is not None:
        refuse_foreign(options.checkpoint, options.job, options.topic)


def _check_table(table: str) -> None:
    path = Path(table.removeprefix("file://"))
    if "://" in str(table) and not table.startswith("file://"):
        return
    is_delta = (path / "_delta_log").is_dir()
    is_free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if not is_delta and not is_free:
        raise Refusal(f"{table} exists and is not a Delta table: name another --table.")


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: half a name, such as Europe
        raise Refusal(f"{name} is not a time zone: write it like UTC or Europe/Paris.") from None
