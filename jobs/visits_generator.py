"""Visits generator: sends made-up visits to Kafka, at a steady rate or as fast as it can."""

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import SystemRandom
from typing import Any, Protocol

from headgate.command.words import positive
from jobs.command.job import Refusal, Tool
from jobs.command.main import run_command
from jobs.command.text import address, duration, key_value
from jobs.visits.generated_visits import Fate, Recipe, Record, most_events, records
from jobs.visits.pacing import Pace, Stop, stop_on_signals

DONE, FAILED = 0, 1
ANSWER_SECONDS = 15
FLUSH_SECONDS = 30
FLUSH_SECONDS_IN_TROUBLE = 5
WAIT_SLICE = 0.1
MOST_VISITS = 1_000_000
FIRST_TIME = "2024-01-01T01:00:00"
NULL_MARKER = b"NULL"


class Unreachable(Exception):
    """The broker cannot be had, or does not take the records; one sentence says why."""


class Outlet(Protocol):
    """Where the records go."""

    @property
    def trouble(self) -> bool:
        """Whether sending on is of no use."""

    def send(self, batch: Sequence[Record]) -> int:
        """Send the records; tells how many of them have gone out."""

    def wait(self, seconds: float) -> None:
        """Let time pass."""

    def close(self) -> None:
        """See everything sent to its end, or raise Unreachable."""


class Lines:
    """Prints what would be sent: the key, a tab and the value, as Kafka's console producer takes it."""

    def __init__(self) -> None:
        self.trouble = False

    def send(self, batch: Sequence[Record]) -> int:
        """Print the records, a line each."""
        lines = [b"%b\t%b\n" % (key, NULL_MARKER if value is None else value) for key, value, _ in batch]
        try:
            sys.stdout.buffer.write(b"".join(lines))
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self._nobody_reads()
            return 0
        return len(batch)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)

    def close(self) -> None:
        """Nothing is left to do."""

    def _nobody_reads(self) -> None:
        self.trouble = True
        # Python would complain of the closed pipe once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Topic:
    """A topic at a broker that has answered."""

    def __init__(self, options: argparse.Namespace, stop: Stop) -> None:
        self._kafka, self._topic, self._stop = options.kafka, options.topic, stop
        self._failures: Counter[str] = Counter()
        self._last_error = ""
        self._producer = _producer(options, self._note_failure, self._note_error)
        self._look_for_topic()

    @property
    def trouble(self) -> bool:
        """Whether a record was lost."""
        return bool(self._failures)

    def send(self, batch: Sequence[Record]) -> int:
        """Hand the records to the client; a full queue is waited for."""
        from confluent_kafka import KafkaException

        produce, topic = self._producer.produce, self._topic
        try:
            for number, (key, value, _) in enumerate(batch):
                try:
                    produce(topic, value, key)
                except BufferError:
                    if not self._send_when_there_is_room(key, value):
                        return number
        except KafkaException as error:
            self._failures[_reason(error)] += 1
            return number
        self._producer.poll(0)
        return len(batch)

    def wait(self, seconds: float) -> None:
        """Let time pass, and hear of deliveries."""
        self._producer.poll(seconds)

    def close(self) -> None:
        """Wait until the broker has everything."""
        patience = FLUSH_SECONDS_IN_TROUBLE if self.trouble else FLUSH_SECONDS
        unconfirmed = self._producer.flush(patience)
        if unconfirmed:
            self._failures[f"no answer within {patience} s"] += unconfirmed
        if self._failures:
            reasons = ", ".join(sorted(self._failures))
            raise Unreachable(
                f"{self._failures.total():,} events did not arrive in topic {self._topic} "
                f"at {self._kafka}: {reasons}{self._because()}."
            )

    def _send_when_there_is_room(self, key: bytes, value: bytes | None) -> bool:
        while not (self._stop.asked or self.trouble):
            self._producer.poll(WAIT_SLICE)
            try:
                self._producer.produce(self._topic, value, key)
            except BufferError:
                continue
            return True
        return False

    def _look_for_topic(self) -> None:
        there = self._topics_there()
        if not self._stop.asked and self._topic not in there:
            shown = ", ".join(sorted(name for name in there if not name.startswith("__"))[:20]) or "none"
            raise Refusal(
                f"Kafka at {self._kafka} has no topic {self._topic}: create it, or correct --topic "
                f"(there are: {shown})."
            )

    def _topics_there(self) -> set[str]:
        """All topics, as asking for a single one makes some brokers create it."""
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < deadline and not self._stop.asked:
            try:
                return set(self._producer.list_topics(timeout=1).topics)
            except KafkaException:
                self._producer.poll(WAIT_SLICE)
        if self._stop.asked:
            return set()
        raise Unreachable(
            f"No Kafka answers at {self._kafka} (waited {ANSWER_SECONDS} s): start it, or correct --kafka"
            f"{self._because()}."
        )

    def _note_failure(self, error: Any, message: Any) -> None:  # noqa: ARG002
        self._failures[error.str()] += 1

    def _note_error(self, error: Any) -> None:
        self._last_error = error.str()

    def _because(self) -> str:
        return f" ({self._last_error})" if self._last_error else ""


def _producer(
    options: argparse.Namespace, on_failure: Callable[[Any, Any], None], on_error: Callable[[Any], None]
) -> Any:
    from confluent_kafka import KafkaException, Producer

    settings = {
        "enable.idempotence": True,
        "linger.ms": 5,
        "batch.num.messages": 20_000,
        "queue.buffering.max.messages": 100_000,
        "message.timeout.ms": FLUSH_SECONDS * 1000,
        "reconnect.backoff.max.ms": 1000,
        "log_level": 0,
        **dict(options.kafka_option),
        "bootstrap.servers": options.kafka,
        "delivery.report.only.error": True,
        "on_delivery": on_failure,
        "error_cb": on_error,
    }
    try:
        return Producer(settings)
    except KafkaException as error:
        reason = _reason(error)
        for _, value in options.kafka_option:
            reason = reason.replace(f'"{value}"', "its value")
        raise Refusal(f"The Kafka client does not take --kafka-option: {reason}.") from None


def _reason(error: Exception) -> str:
    """What Kafka's client says, without the codes around it."""
    told = error.args[0]
    return str(told.str() if hasattr(told, "str") else told).rstrip(".")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    _add_kafka(parser)
    _add_pace(parser)
    _add_visits(parser)
    _add_flaws(parser)


def _add_kafka(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Kafka")
    group.add_argument(
        "--kafka",
        metavar="HOST:PORT",
        type=address,
        help="the broker; left out, every record is printed instead: its key, a tab, and its value, or NULL",
    )
    group.add_argument("--topic", default="visits", help="the topic, which must be there (%(default)s)")
    group.add_argument(
        "--kafka-option",
        metavar="KEY=VALUE",
        type=key_value,
        action="append",
        default=[],
        help="any setting of librdkafka, such as security.protocol=SASL_SSL; "
        "VALUE may be env:NAME or file:PATH, and is never printed",
    )


def _add_pace(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how many, how fast")
    group.add_argument(
        "--count", metavar="N", type=positive, help="events in all, duplicates not counted (goes on until stopped)"
    )
    group.add_argument(
        "--rate", metavar="N", type=_rate, default=10.0, help="records a second; 0 is as fast as possible (%(default)g)"
    )


def _add_visits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("visits")
    group.add_argument(
        "--visits",
        metavar="N",
        type=positive,
        default=10,
        help="visits that take turns, each 1 to 5 minutes on from turn to turn (%(default)s)",
    )
    group.add_argument(
        "--start",
        metavar="TIME",
        type=_clock_reading,
        default=_clock_reading(FIRST_TIME),
        help=f"the time of each visit's first event, in UTC ({FIRST_TIME})",
    )
    group.add_argument(
        "--seed", metavar="N", type=_seed, help="the same seed gives the same records (a random one, which is printed)"
    )


def _add_flaws(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("flaws, as shares from 0 to 1")
    group.add_argument("--late", metavar="SHARE", type=_share, default=0.0, help="events that are late (%(default)g)")
    group.add_argument(
        "--late-by",
        metavar="'N minutes'",
        type=_late_by,
        default=timedelta(minutes=60),
        help="how far a late event lies behind its visit (60 minutes)",
    )
    group.add_argument(
        "--duplicate", metavar="SHARE", type=_share, default=0.0, help="events that are sent twice (%(default)g)"
    )
    group.add_argument(
        "--malformed",
        metavar="SHARE",
        type=_share,
        default=0.0,
        help="values that cannot be used, in turn: not JSON, event_time of a wrong type, missing or not a time, "
        "null, not UTF-8 (%(default)g)",
    )


def _share(text: str) -> float:
    share = _number(text)
    if share is None or not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return share


def _late_by(text: str) -> timedelta:
    try:
        return duration(text)
    except OverflowError:
        raise argparse.ArgumentTypeError(f"'{text}' is longer than times can tell") from None


def _rate(text: str) -> float:
    rate = _number(text)
    if rate is None or rate < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 on")
    return rate


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def _clock_reading(text: str) -> datetime:
    """The time in UTC, without its zone as the events have none."""
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"'{text}' is not a time: write it like {FIRST_TIME}") from None


def check(options: argparse.Namespace) -> None:
    """Refuse what contradicts itself or cannot be told in times up to the year 9999."""
    if options.late + options.malformed > 1 + 1e-9:
        raise Refusal(
            f"--late {options.late:g} and --malformed {options.malformed:g} are more than 1 together, "
            "but no event is both: lower one of them."
        )
    if options.visits > MOST_VISITS:
        raise Refusal(f"--visits {options.visits} is too much to keep in mind: at most {MOST_VISITS} take turns.")
    if options.late and options.start - datetime.min < options.late_by + timedelta(days=1):
        raise Refusal(f"An event that is late by so much would lie before the year 1: start after {options.start}.")
    most = most_events(options.start, options.visits)
    if most < max(options.count or 1, options.visits):
        raise Refusal(f"After {most} events the visits would get past the year 9999: lower --count, or start earlier.")


def run(options: argparse.Namespace) -> int:
    """Send until the count is reached, somebody stops it, or Kafka fails."""
    recipe = _recipe(options)
    try:
        with stop_on_signals() as stop:
            outlet: Outlet = Topic(options, stop) if options.kafka else Lines()
            _send_all(options, recipe, outlet, stop)
    except Unreachable as reason:
        print(reason, file=sys.stderr)
        return FAILED
    return DONE


def _recipe(options: argparse.Namespace) -> Recipe:
    seed = options.seed
    if seed is None:
        seed = SystemRandom().randrange(10**9)
        print(f"The seed is {seed}: --seed {seed} gives the same records again.", file=sys.stderr)
    return Recipe(
        seed=seed,
        start=options.start,
        visits=options.visits,
        count=options.count,
        late=options.late,
        late_by=options.late_by,
        duplicate=options.duplicate,
        malformed=options.malformed,
    )


def _send_all(options: argparse.Namespace, recipe: Recipe, outlet: Outlet, stop: Stop) -> None:
    pace = Pace(options.rate, recipe.visits)
    sent: Counter[Fate] = Counter()
    stream = records(recipe)
    try:
        with _progress(options) as show:
            while not (stop.asked or outlet.trouble) and (batch := list(islice(stream, pace.at_once))):
                gone = outlet.send(batch)
                sent.update(record.fate for record in batch[:gone])
                show(sent)
                _wait_until_due(pace, sent.total(), outlet, stop)
        outlet.close()
    finally:
        print(_summary(sent, pace.seconds), file=sys.stderr)


def _wait_until_due(pace: Pace, sent: int, outlet: Outlet, stop: Stop) -> None:
    while not (stop.asked or outlet.trouble) and (left := pace.left_to_wait(sent)) > 0:
        outlet.wait(min(left, WAIT_SLICE))


def _summary(sent: Counter[Fate], seconds: float) -> str:
    total = sent.total()
    return (
        f"sent {total}, late {sent[Fate.LATE]}, duplicates {sent[Fate.DUPLICATE]}, malformed {sent[Fate.MALFORMED]}, "
        f"{seconds:.2f} s, {total / max(seconds, 1e-9):.0f} events/s"
    )


@contextmanager
def _progress(options: argparse.Namespace) -> Iterator[Callable[[Counter[Fate]], None]]:
    """Shows on a terminal how far it is; the records themselves must not be mixed with that."""
    if not sys.stderr.isatty() or (options.kafka is None and sys.stdout.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.completed:,.0f} events"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=options.count)
        yield lambda sent: progress.update(task, completed=sent.total() - sent[Fate.DUPLICATE])


JOB = Tool(
    name="visits-generator",
    summary="Sends made-up visits to Kafka, at a steady rate or as fast as it can; a seed makes them repeatable.",
    example="headgate run visits-generator --count 10 --seed 7 --late 0.1",
    add_options=add_options,
    run=run,
    check=check,
)


def main() -> int:
    """Do what the words on the command line ask for."""
    return run_command(JOB)


if __name__ == "__main__":
    sys.exit(main())
