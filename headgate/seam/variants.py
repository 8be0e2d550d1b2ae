"""What each call of meaning can be changed into: the operators of the mutants."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from headgate.seam.options import SECONDS, led_trigger
from headgate.seam.program import Program

INTERVAL = re.compile(rf"^\s*(?:interval\s+)?((?:\d+\s*(?:{'|'.join(SECONDS)})s?\s*)+)$", re.IGNORECASE)
PART = re.compile(rf"(\d+)\s*({'|'.join(SECONDS)})s?", re.IGNORECASE)
MINUTE = 60.0
ALL_TIME = "36500 days"
STATEFUL = re.compile(r"\b(Aggregate|Deduplicate\w*|Join|FlatMapGroups\w*|TransformWithState\w*)\b")
OUTPUT_COLUMNS = ("key", "headers", "partition")


@dataclass(frozen=True)
class Call:
    """A call that a program makes of PySpark."""

    program: Program
    original: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)

    @property
    def owner(self) -> Any:
        """What the method is called on."""
        return self.arguments[0]

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """An argument, wherever it is given."""
        return self.arguments[position] if position < len(self.arguments) else self.named.get(name, default)

    def having(self, position: int, name: str, value: Any) -> Callable[[], Any]:
        """The same call with another argument."""
        if position < len(self.arguments):
            changed = (*self.arguments[:position], value, *self.arguments[position + 1 :])
            return lambda: self.original(*changed, **self.named)
        return lambda: self.original(*self.arguments, **{**self.named, name: value})

    def skipped(self) -> Any:
        """As if it were not there: what it is called on comes back."""
        return self.owner


@dataclass(frozen=True)
class Variant:
    """One way in which a call can be wrong."""

    name: str
    shown: str
    play: Callable[[], Any]
    place: tuple[str, int] | None = None
    """File and line, where it is not the call itself that is changed."""
    what: str = ""
    """What is changed, where the call says more than its name."""


Vary = Callable[[Call], Iterator[Variant]]


# Intervals.


def seconds_of(interval: object) -> float | None:
    """The length of an interval that is written in words."""
    found = INTERVAL.match(str(interval))
    return sum(int(n) * SECONDS[unit.lower()] for n, unit in PART.findall(found[1])) if found else None


def spoken(seconds: float) -> str:
    """An interval in words that Spark takes."""
    if seconds != int(seconds):
        return f"{int(seconds * 1000)} milliseconds"
    number, unit = (int(seconds / MINUTE), "minute") if seconds % MINUTE == 0 and seconds else (int(seconds), "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _lengths(before: str, seconds: float, put: Callable[[str], Callable[[], Any]]) -> Iterator[Variant]:
    after = {"longer": seconds * 2 or 10 * MINUTE, "shorter": seconds / 2, "a minute more": seconds + MINUTE}
    for name, length in after.items():
        if length and length != seconds:
            yield Variant(name, f"{before} -> {spoken(length)}", put(spoken(length)))


def watermark(call: Call) -> Iterator[Variant]:
    """More, less, a minute more, gone."""
    delay = call.get(2, "delayThreshold")
    seconds = seconds_of(delay)
    if seconds is not None:
        yield from _lengths(delay, seconds, lambda length: call.having(2, "delayThreshold", length))
    yield Variant("gone", f"{delay} -> none", call.skipped)


def function(call: Call) -> Iterator[Variant]:
    """Functions of columns: windows, aggregates, expressions."""
    name = call.arguments[0]
    for each in _of_function(name, call):
        yield Variant(each.name, each.shown, each.play, what=name)


def _of_function(name: str, call: Call) -> Iterator[Variant]:
    if name == "window":
        yield from _window(call)
    elif name == "session_window" and isinstance(call.arguments[2], str):
        gap = call.arguments[2]
        yield from _lengths(gap, seconds_of(gap) or 0, lambda length: call.having(2, "", length))
    elif name == "expr":
        yield from sql(call.arguments[1], lambda text: call.having(1, "", text))
    elif name in SWAPPED:
        other = SWAPPED[name]
        yield Variant("swapped", f"{name} -> {other}", lambda: _swapped(call, other))


def _window(call: Call) -> Iterator[Variant]:
    invoke, time, length, *more = call.original, *call.arguments[1:]
    seconds = seconds_of(length)
    if seconds is None:
        return
    slide, start = more[0] if more else length, more[1] if len(more) > 1 else "0 seconds"

    def put(length: str, slide: str, start: str) -> Callable[[], Any]:
        return lambda: invoke("window", time, length, slide, start)

    is_tumbling = seconds_of(slide) == seconds
    for name, other in (("longer", seconds * 2), ("shorter", seconds / 2)):
        new = spoken(other)
        if is_tumbling or other >= (seconds_of(slide) or 0):
            yield Variant(name, f"{length} -> {new}", put(new, new if is_tumbling else slide, start))
    other_slide = spoken(seconds / 2) if is_tumbling else length
    yield Variant("other slide", f"{slide} -> {other_slide}", put(length, other_slide, start))
    begin = (seconds_of(start) or 0) + MINUTE
    yield Variant("other start", f"{start} -> {spoken(begin)}", put(length, slide, spoken(begin)))
    yield Variant("gone", f"{length} -> one of all time", put(ALL_TIME, ALL_TIME, "0 seconds"))


# Aggregates and keys.

SWAPPED = {"max": "min", "min": "max", "sum": "max", "avg": "max", "count": "any", "first": "last", "last": "first"}
SWAPPED |= {"approx_count_distinct": "count", "count_distinct": "count"}


def _swapped(call: Call, other: str) -> Any:
    if other == "any":
        return F.max(F.lit(1).cast("long"))
    if call.arguments[0] == "count_distinct":
        return call.original(other, call.arguments[1])
    return call.original(other, *call.arguments[1:])


def grouped(name: str) -> Vary:
    """`count()`, `sum(...)` and the like of groups."""

    def vary(call: Call) -> Iterator[Variant]:
        groups, columns = call.arguments[0], call.arguments[1:]
        if name == "count":
            one = F.max(F.lit(1).cast("long")).alias("count")
            yield Variant("swapped", "count -> any", lambda: groups.agg(one), what=name)
        elif columns:
            other = SWAPPED[name]
            changed = [getattr(F, other)(column).alias(f"{name}({column})") for column in columns]
            yield Variant("swapped", f"{name} -> {other}", lambda: groups.agg(*changed), what=name)

    return vary


def keys(call: Call) -> Iterator[Variant]:
    """Each key lost: all rows in one group."""
    frame, *columns = call.arguments
    columns = list(columns[0]) if len(columns) == 1 and isinstance(columns[0], list) else columns
    for number, column in enumerate(columns):
        about = frame.select(column).schema[0] if not isinstance(column, int) else None
        if about is None or _is_window(about.dataType):
            continue
        lost = F.lit(None).cast(about.dataType)
        changed = [*columns[:number], lost.alias(about.name), *columns[number + 1 :]]
        play = _bound(call.original, frame, *changed)
        if isinstance(column, str) and column in frame.columns:
            # State functions need the key to be a column of the rows themselves.
            play = _bound(_grouped_without, call, about.name, lost, columns)
        yield Variant(f"key {about.name} lost", f"{about.name} -> null", play)


def _grouped_without(call: Call, name: str, lost: Any, columns: list[Any]) -> Any:
    return call.original(call.owner.withColumn(name, lost), *columns)


def _is_window(kind: DataType) -> bool:
    return isinstance(kind, StructType) and kind.names == ["start", "end"]


def duplicates(call: Call) -> Iterator[Variant]:
    """Kept, or told by other columns."""
    subset = call.get(1, "subset")
    yield Variant("gone", f"{subset or 'all columns'} -> duplicates stay", call.skipped)
    if subset and len(subset) > 1:
        fewer = list(subset)[:-1]
        yield Variant("fewer columns", f"{subset} -> {fewer}", call.having(1, "subset", fewer))
    if subset:
        yield Variant("all columns", f"{subset} -> all columns", call.having(1, "subset", None))
    if getattr(call.original, "__name__", "") == "dropDuplicatesWithinWatermark":
        shown = "within the watermark -> for ever"
        yield Variant("other horizon", shown, lambda: call.owner.dropDuplicates(subset))


# Conditions.

OPPOSITE = {">=": ">", ">": ">=", "<=": "<", "<": "<=", "<>": "=", "!=": "=", "==": "!=", "=": "<>"}
OPPOSITE |= {"IS NOT NULL": "IS NULL", "IS NULL": "IS NOT NULL", "AND": "OR", "OR": "AND"}
SQL_OPERATOR = re.compile(
    r"'[^']*'|\"[^\"]*\"|>=|<=>|<=|<>|!=|==|=>|->|>|<|=|\bIS\s+NOT\s+NULL\b|\bIS\s+NULL\b|\bAND\b|\bOR\b", re.IGNORECASE
)
# Here `<` and `>` belong to a type.
SQL_TYPE = re.compile(r"\b(?:array|map|struct)\s*<", re.IGNORECASE)
SQL_LENGTH = re.compile(r"\bINTERVAL\s+(?P<quote>'?)(?P<number>\d+)", re.IGNORECASE)


def sql(text: str, put: Callable[[str], Callable[[], Any]]) -> Iterator[Variant]:
    """Each operator of an expression in SQL turned into its neighbour, each interval made longer."""
    count: Counter[str] = Counter()
    for found in SQL_OPERATOR.finditer(text):
        plain = " ".join(found[0].upper().split())
        if plain not in OPPOSITE or _is_no_operator(plain, text, found.start()):
            continue
        count[plain] += 1
        name = f"{plain} turned" + (f" ({count[plain]})" if count[plain] > 1 else "")
        changed = text[: found.start()] + OPPOSITE[plain] + text[found.end() :]
        yield Variant(name, f"{_short(text, found)} -> {OPPOSITE[plain]}", put(changed))
    for number, found in enumerate(SQL_LENGTH.finditer(text), 1):
        longer = str(int(found["number"]) * 2)
        changed = text[: found.start("number")] + longer + text[found.end("number") :]
        yield Variant(f"interval {number} longer", f"{found['number']} -> {longer}", put(changed))


def _is_no_operator(plain: str, text: str, at: int) -> bool:
    if plain == "AND":
        return bool(re.search(r"BETWEEN\s+\S+\s*$", text[:at], re.IGNORECASE))
    return plain in "<>" and bool(SQL_TYPE.search(text))


def _short(text: str, found: re.Match[str]) -> str:
    around = text[max(0, found.start() - 20) : found.end() + 20]
    return " ".join(around.split())


def statement(call: Call) -> Iterator[Variant]:
    """Operators and intervals of a whole statement."""
    yield from sql(call.arguments[1], lambda text: call.having(1, "text", text))


def condition(call: Call) -> Iterator[Variant]:
    """A filter negated, gone, or with another operator."""
    given = call.get(1, "condition")
    shown = given if isinstance(given, str) else str(given).removeprefix("Column<'").removesuffix("'>")
    negated = f"NOT ({given})" if isinstance(given, str) else ~given
    yield Variant("negated", f"{shown} -> not", call.having(1, "condition", negated))
    yield Variant("gone", f"{shown} -> all rows", call.skipped)
    if isinstance(given, str):
        yield from sql(given, lambda text: call.having(1, "condition", text))


def operator(name: str, other: str, sign: str, other_sign: str) -> Vary:
    """An operator between columns turned into its neighbour."""

    def vary(call: Call) -> Iterator[Variant]:
        turned = getattr(type(call.owner), other)
        yield Variant(f"{sign} turned", f"{sign} -> {other_sign}", _bound(turned, *call.arguments))

    vary.__name__ = name
    return vary


def join(call: Call) -> Iterator[Variant]:
    """Another type of join."""
    how = call.get(3, "how") or "inner"
    other = "leftOuter" if how.lower() == "inner" else "inner"
    if len(call.arguments) > 2 or "on" in call.named:
        yield Variant("other type", f"{how} -> {other}", call.having(3, "how", other))


def limit(call: Call) -> Iterator[Variant]:
    """More rows, or all."""
    rows = call.get(1, "num")
    yield Variant("higher", f"{rows} -> {rows + 1}", call.having(1, "num", rows + 1))
    yield Variant("gone", f"{rows} -> all rows", call.skipped)


def gone(what: str) -> Vary:
    """A call that is left out."""

    def vary(call: Call) -> Iterator[Variant]:
        yield Variant("gone", f"{what} -> left out", call.skipped)

    return vary


def merged(call: Call) -> Iterator[Variant]:
    """A clause of a merge that is left out, or holds without its condition."""
    yield Variant("gone", f"{getattr(call.original, '__name__', 'clause')} -> left out", call.skipped)
    given = call.get(1, "condition")
    if given is not None:
        yield Variant("without condition", f"{given} -> always", call.having(1, "condition", None))
    if isinstance(given, str):
        yield from sql(given, lambda text: call.having(1, "condition", text))


def expressions(call: Call) -> Iterator[Variant]:
    """`selectExpr`: operators and intervals of each expression."""
    for number, text in enumerate(call.arguments[1:], 1):
        if isinstance(text, str):
            for each in sql(text, lambda changed, at=number: call.having(at, "", changed)):  # type: ignore[misc]
                yield Variant(f"column {number} {each.name}", each.shown, each.play)


# Columns that go out.


def columns(call: Call) -> Iterator[Variant]:
    """A record's key or headers lost, its topic another."""
    frame: Any = None
    for name in OUTPUT_COLUMNS:
        if frame is None:
            frame = call.original(*call.arguments, **call.named)
        if name in _given_names(call) and name in frame.columns:
            lost = F.lit(None).cast(frame.schema[name].dataType)
            yield Variant(f"column {name} lost", f"{name} -> null", _bound(type(frame).withColumn, frame, name, lost))
    if "topic" in _given_names(call):
        other = F.concat(F.col("topic"), F.lit("-other"))
        yield Variant("other topic", "topic -> topic-other", _bound(type(frame).withColumn, frame, "topic", other))


def _given_names(call: Call) -> set[str]:
    """The names of the columns that are made here, not only passed on."""
    found = set()
    for each in call.arguments[1:]:
        text = str(each)
        alias = re.search(r" AS (\w+)'>$", text)
        found |= {alias[1]} if alias else set()
    return found


def new_column(call: Call) -> Iterator[Variant]:
    """A column that is added, lost."""
    name = call.get(1, "colName")
    frame = call.original(*call.arguments, **call.named)
    lost = F.lit(None).cast(frame.schema[name].dataType)
    yield Variant(f"column {name} lost", f"{name} -> null", call.having(2, "col", lost))


# Readers, writers, queries.


def output_mode(call: Call) -> Iterator[Variant]:
    """The other modes, where rows can change after they went out."""
    mode = str(call.get(1, "outputMode")).lower()
    plan = call.owner._df._jdf.queryExecution().analyzed().toString()
    if STATEFUL.search(plan):
        for other in ("append", "update", "complete"):
            if other != mode:
                yield Variant(other, f"{mode} -> {other}", call.having(1, "outputMode", other))


def trigger(call: Call) -> Iterator[Variant]:
    """Ignored, or another pace."""
    given = dict(call.named)
    if led_trigger(call.program.world, given) != given:
        return
    ((kind, value),) = given.items()
    yield Variant("ignored", f"{kind}={value} -> none", call.skipped)
    seconds = seconds_of(value) if kind == "processingTime" else None
    if seconds:
        pace = spoken(seconds * 2)
        yield Variant("other", f"{value} -> {pace}", lambda: call.original(call.owner, processingTime=pace))


def option(call: Call) -> Iterator[Variant]:
    """Options of meaning with other values."""
    key, value = call.arguments[1:3]
    for name, shown, other in _other_options(str(key).lower(), value):
        play = call.skipped if other is None else call.having(2, "value", other)
        yield Variant(f"{key} {name}", f"{value} -> {shown}", play)


def _other_options(key: str, value: object) -> Iterator[tuple[str, str, object]]:
    text = str(value).lower()
    if key == "startingoffsets" and text in ("earliest", "latest"):
        other = "latest" if text == "earliest" else "earliest"
        yield "other", other, other
    elif key in ("maxoffsetspertrigger", "maxfilespertrigger"):
        yield "higher", str(int(text) * 2), str(int(text) * 2)
        yield "lower", str(max(1, int(text) - 1)), str(max(1, int(text) - 1))
        yield "gone", "no limit", None
    elif key in ("failondataloss", "includeheaders"):
        other = "false" if text == "true" else "true"
        yield "turned", other, other
    elif key == "checkpointlocation":
        yield "gone", "a new one at each start", f"{value}/{uuid4().hex}"
    elif key in ("topic", "subscribe"):
        yield "other", f"{value}-other", f"{value}-other"


def batches(call: Call) -> Iterator[Variant]:
    """Errors of the program's own function swallowed, batches doubled or lost."""
    own = call.get(1, "func")

    def swallowing(frame: Any, number: int) -> None:
        try:
            own(frame, number)
        except Exception as error:
            print(f"batch {number} failed: {error}")

    def twice(frame: Any, number: int) -> None:
        own(frame, number)
        own(frame, number)

    def every_second(frame: Any, number: int) -> None:
        if number % 2 == 0:
            own(frame, number)

    yield Variant("error swallowed", "fails -> goes on", call.having(1, "func", swallowing))
    yield Variant("called twice", "once -> twice", call.having(1, "func", twice))
    yield Variant("batch lost", "every batch -> every second one", call.having(1, "func", every_second))


def partitions(call: Call) -> Iterator[Variant]:
    """A table that is not partitioned."""
    yield Variant("gone", f"{', '.join(map(str, call.arguments[1:]))} -> none", call.skipped)


def mode(call: Call) -> Iterator[Variant]:
    """Rows added for rows replaced, and the other way round."""
    given = call.get(1, "saveMode")
    other = {"append": "overwrite", "overwrite": "append"}.get(str(given).lower())
    if other:
        yield Variant("other", f"{given} -> {other}", call.having(1, "saveMode", other))


# Sessions.

ZONE = "spark.sql.session.timeZone"


def zone(call: Call) -> Iterator[Variant]:
    """Settings of a session: another time zone."""
    settings = call.get(1, "settings") or {}
    if ZONE in settings:
        other = _other_zone(settings[ZONE])
        changed = {**settings, ZONE: other}
        yield Variant("other", f"{settings[ZONE]} -> {other}", call.having(1, "settings", changed))


def zone_set(call: Call) -> Iterator[Variant]:
    """The same where it is set later."""
    if call.get(1, "key") == ZONE:
        value = call.get(2, "value")
        other = _other_zone(value)
        yield Variant("other", f"{value} -> {other}", call.having(2, "value", other))


def _other_zone(zone: object) -> str:
    return "Asia/Kolkata" if str(zone) != "Asia/Kolkata" else "UTC"


def _bound(function: Callable[..., Any], *arguments: Any, **named: Any) -> Callable[[], Any]:
    return lambda: function(*arguments, **named)
