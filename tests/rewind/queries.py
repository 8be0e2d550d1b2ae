"""The queries whose checkpoints are rewound, and what they wrote the first time."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle, StreamingQuery

EVENTS_PER_BATCH = 4
BATCHES = 6
SNAPSHOT_SECONDS = 30

PREFIX = "spark.sql.streaming.stateStore"
ROCKSDB = {f"{PREFIX}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
CHANGELOG = {**ROCKSDB, f"{PREFIX}.rocksdb.changelogCheckpointing.enabled": "true"}
FORMAT_2 = {f"{PREFIX}.checkpointFormatVersion": "2"}
SNAPSHOTS = {f"{PREFIX}.minDeltasForSnapshot": "2"}
# Snapshots are written by maintenance, whose pace is set by the first state store of a JVM.
EVERYWHERE = {f"{PREFIX}.maintenanceInterval": "100ms", "spark.sql.shuffle.partitions": "2"}

Output = dict[int, list[str]]


def windowed(events: DataFrame) -> DataFrame:
    return events.withWatermark("t", "5 minutes").groupBy(f.window("t", "10 minutes"), "k").count()


def joined(events: DataFrame) -> DataFrame:
    left = events.withWatermark("t", "5 minutes")
    right = events.withColumnsRenamed({"k": "k2", "t": "t2", "n": "n2"}).withWatermark("t2", "5 minutes")
    return left.join(right, f.expr("k = k2 AND t2 BETWEEN t AND t + INTERVAL 5 MINUTES"))


def counted(events: DataFrame) -> DataFrame:
    # Inside of the function it is sent to the workers by value: they cannot import tests.
    class Counter(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self._count = handle.getValueState("count", "n long")

        def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
            n = (self._count.get()[0] if self._count.exists() else 0) + sum(1 for _ in rows)
            self._count.update((n,))
            yield Row(k=key[0], n=n)

        def close(self) -> None:
            """Nothing to release."""

    return events.groupBy("k").transformWithState(
        statefulProcessor=Counter(), outputStructType="k string, n long", outputMode="Update", timeMode="None"
    )


def stateless(events: DataFrame) -> DataFrame:
    return events.select("k", "n")


@dataclass(frozen=True)
class Case:
    """A query, its settings, and how its state is read back."""

    name: str
    query: Callable[[DataFrame], DataFrame]
    conf: Mapping[str, str] = field(default_factory=dict)
    mode: str = "update"
    state_options: tuple[Mapping[str, str], ...] = ({},)
    snapshots: str = ""
    "The kind of snapshot to wait for halfway; none when empty."


CASES = {
    case.name: case
    for case in (
        Case("rocksdb-zip", windowed, ROCKSDB),
        Case("rocksdb-changelog", windowed, {**CHANGELOG, **SNAPSHOTS}, snapshots="zip"),
        Case("hdfs-delta", windowed, SNAPSHOTS, snapshots="snapshot"),
        Case("format-2-zip", windowed, {**ROCKSDB, **FORMAT_2}),
        Case("format-2-changelog", windowed, {**CHANGELOG, **FORMAT_2, **SNAPSHOTS}, snapshots="zip"),
        Case("join", joined, {}, "append", ({"joinSide": "left"}, {"joinSide": "right"})),
        Case("join-format-2", joined, {**ROCKSDB, **FORMAT_2}, "append", ({"joinSide": "left"}, {"joinSide": "right"})),
        Case("transform-with-state", counted, ROCKSDB, state_options=({"stateVarName": "count"},)),
        Case("stateless", stateless, {}, "append", ()),
        Case("purged", windowed, {"spark.sql.streaming.minBatchesToRetain": "3"}),
    )
}


@dataclass(frozen=True)
class Made:
    """A checkpoint, what the query wrote for each batch, and how to run it again."""

    checkpoint: Path
    output: Output
    run: Callable[[Path], Output]
    state: Callable[[Path, Path], list[str]]
    topic: str


def make(spark: SparkSession, address: str, case: Case, checkpoint: Path) -> Made:
    """Run a query over a topic of its own until all is read; twice, when there is to be a snapshot in between."""
    topic = f"rewind-{case.name}"
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    session = spark.newSession()
    for key, value in {**EVERYWHERE, **case.conf}.items():
        session.conf.set(key, value)
    source = _events(session, address, topic)
    first: Output = {}
    if case.snapshots:
        _send(address, topic, range(BATCHES // 2))
        first |= _run_until_snapshot(case, source, checkpoint)
        _send(address, topic, range(BATCHES // 2, BATCHES))
    else:
        _send(address, topic, range(BATCHES))
    first |= run(case, source, checkpoint)
    return Made(
        copy_settled(checkpoint, checkpoint.with_name(f"{case.name}-made")),
        first,
        lambda where: run(case, source, where),
        lambda where, scratch: state_of(session, case, where, scratch),
        topic,
    )


def run(case: Case, source: DataFrame, checkpoint: Path) -> Output:
    """Run the query until it has read everything; gives the rows of each batch."""
    output: Output = {}
    query = _start(case, source, checkpoint, output, availableNow=True)
    query.awaitTermination()
    return output


def copy_settled(checkpoint: Path, target: Path) -> Path:
    """A copy that stays as it is: maintenance outlives its query, and may still be writing a snapshot."""
    shutil.copytree(checkpoint, target, ignore=shutil.ignore_patterns("*.tmp", "*.tmp.crc"))
    return target


def state_of(session: SparkSession, case: Case, checkpoint: Path, scratch: Path) -> list[str]:
    """Every row of state, read from a copy because reading can write."""
    copy_settled(checkpoint, scratch)
    rows = []
    for options in case.state_options:
        rows += [str(row) for row in session.read.format("statestore").options(**options).load(str(scratch)).collect()]
    shutil.rmtree(scratch)
    return sorted(rows)


def _start(case: Case, source: DataFrame, checkpoint: Path, output: Output, **trigger: bool) -> StreamingQuery:
    def record(rows: DataFrame, batch: int) -> None:
        output[batch] = sorted(str(row) for row in rows.collect())

    writer = case.query(source).writeStream.outputMode(case.mode).foreachBatch(record)
    writer = writer.option("checkpointLocation", str(checkpoint))
    return (writer.trigger(**trigger) if trigger else writer).start()


def _run_until_snapshot(case: Case, source: DataFrame, checkpoint: Path) -> Output:
    output: Output = {}
    query = _start(case, source, checkpoint, output)
    query.processAllAvailable()
    for _ in range(SNAPSHOT_SECONDS * 10):
        if _has_snapshots(checkpoint, case.snapshots):
            break
        assert not query.awaitTermination(0.1), query.exception()
    else:
        raise AssertionError(
            f"no {case.snapshots} within {SNAPSHOT_SECONDS} s: did another pace of maintenance come first?"
        )
    query.stop()
    return output


def _has_snapshots(checkpoint: Path, kind: str) -> bool:
    return all(any(folder.glob(f"[0-9]*.{kind}")) for folder in checkpoint.glob("state/0/[0-9]"))


def _events(session: SparkSession, address: str, topic: str) -> DataFrame:
    options = {
        "kafka.bootstrap.servers": address,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(EVENTS_PER_BATCH),
        "kafka.fetch.max.wait.ms": "10",
    }
    raw = session.readStream.format("kafka").options(**options).load()
    parsed = raw.select(f.from_json(f.col("value").cast("string"), "k string, t timestamp, n int").alias("event"))
    return parsed.select("event.*")


def _send(address: str, topic: str, batches: range) -> None:
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0})
    for batch in batches:
        for number in range(EVENTS_PER_BATCH):
            event = {"k": f"k{number % 3}", "t": f"2024-01-01T10:{batch * 5 + number:02}:00Z", "n": batch * 10 + number}
            producer.produce(topic, json.dumps(event))
    assert producer.flush(30) == 0


class Checkpoints:
    """Makes each case's checkpoint when it is first asked for, and hands out copies."""

    def __init__(self, spark: SparkSession, address: str, folder: Path) -> None:
        self._spark = spark
        self._address = address
        self._folder = folder
        self._made: dict[str, Made] = {}

    def made(self, case: str) -> Made:
        if case not in self._made:
            self._made[case] = make(self._spark, self._address, CASES[case], self._folder / case)
        return self._made[case]

    def copy(self, case: str, target: Path) -> Path:
        shutil.copytree(self.made(case).checkpoint, target)
        return target
