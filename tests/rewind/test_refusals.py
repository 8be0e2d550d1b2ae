"""What the command refuses, why, and what it offers instead."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from headgate.kafka.kafka import Kafka
from headgate.rewind.retention import Kept, lost_offsets
from headgate.rewind.running import quiet_seconds

from .queries import EVENTS_PER_BATCH, Checkpoints
from .tools import apply, refused, rewind, tree

LONG_AGO = 1_600_000_000


@pytest.fixture
def stateful(checkpoints: Checkpoints, tmp_path: Path) -> Path:
    return checkpoints.copy("rocksdb-zip", tmp_path / "checkpoint")


def last_batch(checkpoint: Path) -> int:
    return max(int(path.name) for path in (checkpoint / "offsets").glob("[0-9]*"))


def age(checkpoint: Path) -> None:
    """Make a checkpoint look as if nobody had written to it for long."""
    for path in checkpoint.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))


def test_plan_changes_nothing(stateful: Path) -> None:
    before = tree(stateful)
    plan = rewind(stateful, "--to-batch", 3)
    assert plan.code == 0
    assert tree(stateful) == before
    assert not (stateful / ".headgate-rewind").exists()


def test_plan_shows_what_goes_and_where_the_job_resumes(stateful: Path) -> None:
    plan = rewind(stateful, "--to-batch", 3).out
    last = last_batch(stateful)
    assert f"offsets 3-{last}" in plan
    assert f"state zip 0 default 0-1 4-{last + 1}" in plan
    assert f"Kafka rewind-rocksdb-zip 0 offset {3 * EVENTS_PER_BATCH}" in plan
    assert "watermark 2024-01-01 10:08:00.000 UTC" in plan
    assert f"the output of batches 3 to {last}" in plan
    assert "if that is the sink, give --table" in plan


def test_plan_lists_the_four_stores_of_a_join(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoint = checkpoints.copy("join", tmp_path / "checkpoint")
    plan = rewind(checkpoint, "--to-batch", 3).out
    assert plan.count("state delta") == 4
    assert plan.count("0-1") == 4
    assert rewind(checkpoint, "--to-batch", 3, "--verbose").out.count("state delta") == 8
    assert "State operator 0 is symmetricHashJoin." in plan


def test_plan_to_zero_shows_the_first_offsets(stateful: Path) -> None:
    assert "Kafka rewind-rocksdb-zip 0 offset 0" in rewind(stateful, "--to-batch", 0).out


def test_plan_says_when_the_first_batch_had_no_data(stateful: Path) -> None:
    last = last_batch(stateful)
    assert f"Batch {last} had no data of its own" in rewind(stateful, "--to-batch", last).out
    assert "had no data" not in rewind(stateful, "--to-batch", last - 1).out


def test_batch_that_never_was(stateful: Path) -> None:
    last = last_batch(stateful)
    reason = refused(rewind(stateful, "--to-batch", 99, "--apply"))
    assert f"batch 99 never was, the newest is batch {last}; the nearest batch that works is {last}." in reason
    assert "never was" in refused(rewind(stateful, "--to-batch", -1))


def test_batch_that_was_not_committed(stateful: Path) -> None:
    last = last_batch(stateful)
    (stateful / "commits" / str(last)).unlink()
    reason = refused(rewind(stateful, "--to-batch", last))
    assert f"batch {last} was not committed, so a restart begins with it anyway" in reason
    assert f"the nearest batch that works is {last - 1}." in reason


def test_batch_whose_logs_are_purged(stateful: Path) -> None:
    for log in ("offsets", "commits"):
        for batch in range(4):
            (stateful / log / str(batch)).unlink()
    reason = refused(rewind(stateful, "--to-batch", 4))
    assert "batch 4 starts from offsets/3, which is purged" in reason
    assert "batch 5 starts from offsets/3, which is purged" in refused(rewind(stateful, "--to-batch", 5))
    assert "the nearest batch that works is 0 (all over again, from empty state) or 6." in reason


def test_batch_whose_state_is_purged_in_one_partition(stateful: Path) -> None:
    (stateful / "state/0/1/3.zip").unlink()
    reason = refused(rewind(stateful, "--to-batch", 3))
    assert "state version 3, which is purged or missing in operator 0, partition 1, store default" in reason
    assert "the nearest batch that works is 2 or 4." in reason


def test_state_that_lacks_a_difference_since_its_snapshot(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoint = checkpoints.copy("hdfs-delta", tmp_path / "checkpoint")
    newest = last_batch(checkpoint)
    for file in checkpoint.glob(f"state/0/0/{newest}.*"):
        file.unlink()
    assert "purged or missing" in refused(rewind(checkpoint, "--to-batch", newest))


def test_state_file_of_a_failed_attempt_does_not_count(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoint = checkpoints.copy("format-2-zip", tmp_path / "checkpoint")
    (good,) = (checkpoint / "state/0/0").glob("3_*.zip")
    good.rename(good.with_name("3_00000000-0000-0000-0000-000000000000.zip"))
    assert "purged or missing" in refused(rewind(checkpoint, "--to-batch", 3))


def test_snapshot_whose_sst_file_is_gone(stateful: Path) -> None:
    shutil.rmtree(stateful / "state/0/0/SSTs")
    assert "which is gone, so state version" in refused(rewind(stateful, "--to-batch", 5))


def test_what_spark_has_purged_is_refused_and_what_is_offered_works(checkpoints: Checkpoints, tmp_path: Path) -> None:
    made = checkpoints.made("purged")
    checkpoint = checkpoints.copy("purged", tmp_path / "checkpoint")
    reason = refused(rewind(checkpoint, "--to-batch", 1))
    offered = int(reason.rpartition(" or ")[2].strip(" .\n"))
    assert 1 < offered <= max(made.output)
    apply(checkpoint, offered)
    assert made.run(checkpoint) == {batch: rows for batch, rows in made.output.items() if batch >= offered}


def test_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    assert "is not a checkpoint" in refused(rewind(tmp_path, "--to-batch", 1))
    assert "missing is not there" in refused(rewind(tmp_path / "missing", "--to-batch", 1))
    assert list(tmp_path.iterdir()) == []


def test_checkpoint_without_metadata(stateful: Path) -> None:
    (stateful / "metadata").unlink()
    assert "no readable `metadata`" in refused(rewind(stateful, "--to-batch", 1))


def test_damaged_offsets_are_told_with_what_works(stateful: Path) -> None:
    (stateful / "offsets/2").write_text("v1\n{")
    reason = refused(rewind(stateful, "--to-batch", 3))
    assert "batch 3 starts from offsets/2, which differs from its checksum" in reason
    (stateful / "offsets/.2.crc").unlink()
    reason = refused(rewind(stateful, "--to-batch", 3))
    assert "batch 3 starts from offsets/2, which is cut short" in reason
    assert "the nearest batch that works is 2 or 5." in reason


def test_questions_that_make_no_sense(stateful: Path) -> None:
    assert "Give --to-batch" in refused(rewind(stateful))
    assert "leave --to-batch out" in refused(rewind(stateful, "--undo", "--to-batch", 3))
    assert "no such rewind to undo" in refused(rewind(stateful, "--undo"))
    assert "together with --undo" in refused(rewind(stateful, "--to-batch", 3, "--backup", "x"))


def test_schemas_of_later_batches_go_too(stateful: Path) -> None:
    early, late = stateful / "state/0/_metadata/v2/2", stateful / "state/0/_metadata/v2/3"
    schema = stateful / "state/0/_stateSchema/default/3_11111111-1111-1111-1111-111111111111"
    for path in (early, late, schema):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("v2\n{}")
    apply(stateful, 3)
    assert (early.exists(), late.exists(), schema.exists()) == (True, False, False)


def test_unfinished_rewind_comes_first(stateful: Path) -> None:
    apply(stateful, 3)
    (journal,) = stateful.glob(".headgate-rewind/*/journal.json")
    journal.write_text(json.dumps({**json.loads(journal.read_text()), "phase": "applying"}))
    reason = refused(rewind(stateful, "--to-batch", 2, "--apply", "--job-is-stopped"))
    assert "a rewind to batch 3 was cut short; finish it with `--to-batch 3 --apply` or take it back" in reason


def test_rewinds_are_undone_newest_first(stateful: Path) -> None:
    before = tree(stateful)
    apply(stateful, 5)
    apply(stateful, 2)
    reason = refused(rewind(stateful, "--undo", "--backup", "0001-to-batch-5", "--job-is-stopped"))
    assert "undo the later rewinds first" in reason
    assert rewind(stateful, "--undo", "--job-is-stopped").code == 0
    assert rewind(stateful, "--undo", "--job-is-stopped").code == 0
    assert tree(stateful) == before


def test_journal_cut_off_while_being_written_is_no_rewind(stateful: Path) -> None:
    draft = stateful / ".headgate-rewind/0001-to-batch-3/journal.json.draft"
    draft.parent.mkdir(parents=True)
    draft.write_text('{"name": "00')
    assert "no such rewind" in refused(rewind(stateful, "--undo"))
    apply(stateful, 3)


class TestRunningQuery:
    def test_checkpoint_written_a_moment_ago(self, stateful: Path) -> None:
        before = tree(stateful)
        newest = stateful / "commits" / str(last_batch(stateful))
        os.utime(newest, (time.time(), time.time()))
        reason = refused(rewind(stateful, "--to-batch", 3, "--apply"))
        assert "a query may still be running on it" in reason
        assert tree(stateful) == before

    def test_quiet_checkpoint(self, stateful: Path) -> None:
        age(stateful)
        assert rewind(stateful, "--to-batch", 3, "--apply").code == 0
        assert rewind(stateful, "--undo").code == 0

    @pytest.fixture(params=["--checkpoint={0}", "file://{0}/", "{0.name}"])
    def other_process(self, stateful: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
        words = [sys.executable, "-c", "input()", request.param.format(stateful)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, cwd=stateful.parent) as process:
            yield process
            process.kill()

    def test_process_that_was_given_the_path(self, stateful: Path, other_process: subprocess.Popen[bytes]) -> None:
        age(stateful)
        reason = refused(rewind(stateful, "--to-batch", 3, "--apply"))
        assert f"process {other_process.pid} (python" in reason
        assert rewind(stateful, "--to-batch", 3, "--apply", "--job-is-stopped").code == 0

    def test_silence_asked_for_follows_the_pace_of_the_job(self) -> None:
        assert quiet_seconds([]) == 30
        assert quiet_seconds([0, 1, 2, 3]) == 30
        assert quiet_seconds([0, 60, 120, 180, 50_000]) == 180
        assert quiet_seconds([0, 3600, 7200]) == 900


class TestKafkaRetention:
    def test_words_for_what_is_lost(self) -> None:
        resume = {"clicks": {0: 10, 1: 20}}
        assert lost_offsets(resume, lambda _, __: Kept(0, 30)) is None
        assert lost_offsets(resume, lambda _, __: Kept(10, 20)) is None
        assert "partition 0: the job would resume from offset 10, the first one left is 15" in str(
            lost_offsets(resume, lambda _, __: Kept(15, 30))
        )
        assert "made anew" in str(lost_offsets(resume, lambda _, __: Kept(0, 5)))
        assert "no partition 0" in str(lost_offsets(resume, lambda _, __: None))

    def test_broker_that_has_deleted_records(self, checkpoints: Checkpoints, broker: Kafka, tmp_path: Path) -> None:
        made = checkpoints.made("format-2-zip")
        checkpoint = checkpoints.copy("format-2-zip", tmp_path / "checkpoint")
        assert rewind(checkpoint, "--to-batch", 0, "--kafka", broker.address).code == 0
        admin = AdminClient({"bootstrap.servers": broker.address})
        gone = TopicPartition(made.topic, 0, 3 * EVENTS_PER_BATCH - 1)
        for future in admin.delete_records([gone]).values():
            future.result()
        reason = refused(rewind(checkpoint, "--to-batch", 2, "--kafka", broker.address))
        assert f"would resume from offset {2 * EVENTS_PER_BATCH}, the first one left is {gone.offset}" in reason
        assert "the nearest batch that works is 3." in reason
        assert rewind(checkpoint, "--to-batch", 3, "--kafka", broker.address).code == 0

    def test_broker_that_does_not_answer(self, stateful: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.rewind.retention.ANSWER_SECONDS", 0.5)
        answer = rewind(stateful, "--to-batch", 3, "--kafka", "127.0.0.1:1")
        assert answer.code == 1
        assert "correct the address, or leave --kafka out" in answer.error


class TestDeltaSink:
    def run(self, spark: SparkSession, source: Path, checkpoint: Path, table: Path) -> None:
        stream = spark.readStream.schema("id long").option("maxFilesPerTrigger", 1).json(str(source))
        writer = stream.writeStream.format("delta").option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start(str(table)).awaitTermination()

    def test_table_would_skip_the_batches_and_the_way_that_is_offered_works(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        source, checkpoint, table = (tmp_path / name for name in ("source", "checkpoint", "table"))
        source.mkdir()
        for number in range(2):
            (source / f"{number}.json").write_text(json.dumps({"id": number}))
        self.run(spark, source, checkpoint, table)
        words = (checkpoint, "--to-batch", 1, "--table", table)
        reason = refused(rewind(*words, "--apply", "--job-is-stopped"))
        assert "already has batches 1 to 1 of this query and would silently skip them" in reason
        statement = f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0"
        assert statement in reason
        assert "--new-query-id" in reason

        spark.sql(statement)
        done = rewind(*words, "--apply", "--job-is-stopped", "--new-query-id")
        assert done.code == 0, done.error
        self.run(spark, source, checkpoint, table)
        rows = spark.read.format("delta").load(str(table)).collect()
        assert sorted(row.id for row in rows) == [0, 1]

    def test_notes_in_a_log_checkpoint_are_found(self, spark: SparkSession, stateful: Path, tmp_path: Path) -> None:
        table = tmp_path / "table"
        query = json.loads((stateful / "metadata").read_text())["id"]
        options = {"txnAppId": query, "txnVersion": "4", "delta.checkpointInterval": "1"}
        spark.range(1).coalesce(1).write.format("delta").options(**options).save(str(table))
        spark.range(1).coalesce(1).write.format("delta").mode("append").save(str(table))
        (table / "_delta_log" / f"{0:020}.json").unlink()
        assert "batches 4 to 4 of this query" in refused(rewind(stateful, "--to-batch", 4, "--table", table))
        assert rewind(stateful, "--to-batch", 5, "--table", table).code == 0

    def test_other_writers_are_mentioned(self, stateful: Path, tmp_path: Path) -> None:
        log = tmp_path / "table/_delta_log"
        log.mkdir(parents=True)
        (log / f"{0:020}.json").write_text('{"txn":{"appId":"synchronizer","version":7}}\n')
        plan = rewind(stateful, "--to-batch", 3, "--table", log.parent)
        assert "batches up to 7 of synchronizer" in plan.out

    def test_table_that_is_none(self, stateful: Path, tmp_path: Path) -> None:
        assert "is not a Delta table" in refused(rewind(stateful, "--to-batch", 3, "--table", tmp_path))


def test_local_rewind_loads_neither_pyspark_nor_kafka() -> None:
    program = (
        "import sys, headgate.rewind.command; print({'pyspark', 'py4j', 'confluent_kafka', 'pyarrow'} & {*sys.modules})"
    )
    root = Path(__file__).parent.parent.parent
    shown = subprocess.run([sys.executable, "-c", program], check=True, cwd=root, capture_output=True, text=True)
    assert shown.stdout.strip() == "set()"
