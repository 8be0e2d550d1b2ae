"""What is done to running programs on purpose, and what must be as it was afterwards."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Message

from headgate.errors import StepFailure
from headgate.seam.program import Program
from headgate.seam.sinks import Break, LedQuery, SeenBatch
from headgate.spark.queries import RunningJob
from headgate.stage.stage import Stage, versions_of
from headgate.stage.staged_program import StagedProgram
from headgate.stage.topic import Topic


@dataclass
class Doubles:
    """How often a topic or a table was written to again, and what of it is there twice."""

    replays: int = 0
    doubled: int = 0


@dataclass
class Seen:
    """What came of the disturbances of one scenario."""

    restarts: int = 0
    replays: int = 0
    sinks: dict[str, Doubles] = field(default_factory=dict)

    def note(self, sink: str, doubled: int) -> None:
        """A batch has come again, and the sink has so many records or rows twice."""
        about = self.sinks.setdefault(sink, Doubles())
        about.replays += 1
        about.doubled += doubled

    @property
    def doubled(self) -> list[str]:
        """The sinks that have something twice."""
        return [name for name, about in self.sinks.items() if about.doubled]


def restart(stage: Stage, seen: Seen) -> None:
    """Every running program is stopped and started again."""
    for staged in _running(stage):
        _start_again(stage, staged)
        seen.restarts += 1


def replay(stage: Stage, seen: Seen) -> None:
    """Every running program has died after its sink and before it could note that the batch is done."""
    for staged in _running(stage):
        with _counting_doubles(stage, seen):
            seen.replays += _start_again(stage, staged, forgets=True)
        seen.restarts += 1


def _running(stage: Stage) -> list[StagedProgram]:
    return [staged for staged in stage.jobs.values() if staged.is_running]


def _start_again(stage: Stage, staged: StagedProgram, *, forgets: bool = False) -> int:
    """Stop it and start it again, which count as one start; gives how many batches were to come again."""
    before = staged.program
    assert before is not None
    stage.breaks.setdefault(staged.name, []).extend(_breaks_to_come(before))
    staged.stop()
    forgotten = sum(_forget_last_batch(led) for led in before.queries) if forgets else 0
    stage.begin(staged)
    after = staged.program
    assert after is not None
    for led, earlier in zip(after.queries, before.queries, strict=False):
        _drop_repeated(f"the {staged.name}", led, earlier)
        again = {report.batch for report in RunningJob(staged.name, [led.query]).batches()}
        before.reports[led.order] = [each for each in before.reports.get(led.order, []) if each.batch not in again]
    after.take_over(before)
    staged.earlier_programs.remove(before)
    return forgotten


def _breaks_to_come(program: Program) -> list[Break]:
    found = []
    for led in program.queries:
        for number, after_sink in ((led.breaks_in, False), (led.breaks_after, True)):
            if number is not None:
                found.append(Break(led.order, number, after_sink))
    return found


def _forget_last_batch(led: LedQuery) -> bool:
    """Take away that the last batch is done; tells whether there was one."""
    checkpoint = Path(led.checkpoint.removeprefix("file://").removeprefix("file:"))
    begun, done = _last(checkpoint / "offsets"), _last(checkpoint / "commits")
    if done is None or begun is None or int(begun.name) > int(done.name):
        return False
    done.unlink()
    done.with_name(f".{done.name}.crc").unlink(missing_ok=True)
    return True


def _last(folder: Path) -> Path | None:
    numbered = [file for file in folder.iterdir() if file.name.isdigit()] if folder.is_dir() else []
    return max(numbered, key=lambda file: int(file.name), default=None)


def _drop_repeated(program: str, led: LedQuery, earlier: LedQuery) -> None:
    """A batch that has come again must be what it was; the feature has spoken of it already."""
    known = {batch.number: batch for batch in earlier.seen}
    for batch in [each for each in led.seen if each.number in known]:
        before = known[batch.number]
        if _rows(batch) != _rows(before):
            raise StepFailure(
                f"batch {batch.number} of {program} has come again with other rows:\n{_shown(batch)}\n\n"
                f"it was:\n{_shown(before)}"
            )
        led.seen.remove(batch)


def _rows(batch: SeenBatch) -> Counter[str]:
    return Counter(map(str, batch.rows.to_pylist()))


def _shown(batch: SeenBatch) -> str:
    return "\n".join(f"  {row}" for row in batch.rows.to_pylist()) or "  no rows"


# What sinks make of a batch that comes again.


@contextmanager
def _counting_doubles(stage: Stage, seen: Seen) -> Iterator[None]:
    """While it is in force, what comes to topics and tables is there already, once."""
    stage.find_topics()
    topics = [_Recounted(topic, stage.patience) for topic in stage.topics.values() if topic.exists]
    tables = {log.parent: _rows_in(stage, log.parent) for log in stage.folder.rglob("_delta_log")}
    versions = {path: versions_of(path) for path in tables}
    yield
    for recounted in topics:
        recounted.hide_doubles(seen)
    for path, rows in tables.items():
        seen.note(f'table "{stage.spoken_place(path)}"', _rows_in(stage, path) - rows)
        grown = versions_of(path) - versions[path]
        stage.tables_mentioned[str(path)] = stage.tables_mentioned.get(str(path), 0) + grown


def _rows_in(stage: Stage, path: Path) -> int:
    return int(stage.rows_of(path).num_rows)


class _Recounted:
    """A topic, read by nobody else, before and after a batch comes again."""

    def __init__(self, topic: Topic, seconds: float) -> None:
        self._topic = topic
        self._seconds = seconds
        self._reader = Topic(topic.name, topic.real_name, topic.address, topic.partitions)
        self._before = self._reader.read_on(seconds)

    def hide_doubles(self, seen: Seen) -> None:
        """Count what has come, which must be there before, and keep it from the sentences."""
        came = self._reader.read_on(self._seconds)
        known = {_record(message) for message in self._before}
        for message in came:
            if _record(message) not in known:
                raise StepFailure(
                    f'a batch that came again has brought something else to "{self._topic.name}": {message.value()!r}'
                )
            self._topic.hidden.add((message.partition(), message.offset()))
        if not self._topic.sent and (came or self._before):
            seen.note(f'topic "{self._topic.name}"', len(came))


def _record(message: Message) -> tuple[object, ...]:
    return message.key(), message.value(), tuple(message.headers() or ())
