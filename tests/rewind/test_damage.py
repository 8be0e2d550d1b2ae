"""Damaged checkpoints: what goes need not be readable, what stays has to be, and no half of a rewind is left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.rewind import files as local_files
from headgate.rewind.files import LocalFiles
from headgate.rewind.lock import LOCK, alone

from .tools import apply, refused, rewind, tree
from .trees import COMPRESSED, JOIN_STORES, LZ4_END, Shape, damage, offsets, plant, snapshot

BATCHES = 5
COMMIT = '{"nextBatchWatermarkMs":60000}'
NOBODY = 65534
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


@pytest.fixture
def checkpoint(folder: Path) -> Path:
    return plant(folder, Shape(), BATCHES)


def command(checkpoint: Path, *words: str, output: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    program = "import sys; from headgate.command.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", program, "rewind-checkpoint", str(checkpoint), *words]
    return subprocess.Popen(line, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True)


class TestOneAtATime:
    def test_second_is_refused_and_told_who_is_at_work(self, checkpoint: Path) -> None:
        before = tree(checkpoint)
        with alone(LocalFiles(checkpoint)):
            for words in (["--to-batch", 2, "--apply"], ["--undo"]):
                reason = refused(rewind(checkpoint, *words, "--job-is-stopped"))
                assert f"another rewind is at work on it (process {os.getpid()} on " in reason
            assert rewind(checkpoint, "--to-batch", 2).code == 0
        assert tree(checkpoint) == before
        assert not (checkpoint / LOCK).parent.exists()

    def test_of_two_at_once_one_does_it(self, checkpoint: Path) -> None:
        plant(checkpoint, Shape(partitions=50), 40)
        before = tree(checkpoint)
        both = {
            batch: command(checkpoint, "--to-batch", batch, "--apply", "--job-is-stopped") for batch in ("25", "20")
        }
        said = {batch: (*process.communicate(), process.returncode) for batch, process in both.items()}
        # One may have ended before the other began, which then goes on from there.
        done = [batch for batch, (out, _, code) in said.items() if code == 0]
        assert done, said
        assert len(list((checkpoint / "offsets").glob("[0-9]*"))) == min(map(int, done))
        for _ in done:
            assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == before

    def test_lock_of_a_killed_process_is_taken_over(self, checkpoint: Path) -> None:
        holding = (
            "import sys; from pathlib import Path; from headgate.rewind.files import LocalFiles\n"
            "from headgate.rewind.lock import alone\n"
            f"with alone(LocalFiles(Path({str(checkpoint)!r}))): print('held', flush=True); input()"
        )
        words = [sys.executable, "-c", holding]
        with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            assert f"process {process.pid} on" in refused(rewind(checkpoint, "--to-batch", 2, "--apply"))
            process.send_signal(signal.SIGKILL)
        assert (checkpoint / LOCK).exists()
        apply(checkpoint, 2)

    @pytest.mark.parametrize("owner", ['{"host":"elsewhere","process":1,"began":"1"}', "[]", '{"process":'])
    def test_lock_of_another_machine_is_for_a_person_to_judge(self, checkpoint: Path, owner: str) -> None:
        damage(checkpoint / LOCK, owner)
        reason = refused(rewind(checkpoint, "--to-batch", 2, "--apply", "--job-is-stopped"))
        assert f"should that process be gone for good, remove {LOCK}" in reason
        (checkpoint / LOCK).unlink()
        apply(checkpoint, 2)

    def test_unfinished_rewind_is_told_from_one_at_work(self, checkpoint: Path) -> None:
        apply(checkpoint, 2)
        (journal,) = checkpoint.glob(".headgate-rewind/*/journal.json")
        journal.write_text(json.dumps({**json.loads(journal.read_text()), "phase": "applying"}))
        with alone(LocalFiles(checkpoint)):
            assert "is at work on it" in refused(rewind(checkpoint, "--to-batch", 2))
        assert "was cut short" in refused(rewind(checkpoint, "--to-batch", 2))

    def test_given_again_after_its_end_it_is_still_done(self, checkpoint: Path) -> None:
        apply(checkpoint, 2)
        done = rewind(checkpoint, "--to-batch", 2, "--apply", "--job-is-stopped")
        assert (done.code, "Done: a restart begins with batch 2" in done.out) == (0, True)


@contextlib.contextmanager
def without_roots_rights() -> Iterator[None]:
    """Root may write everywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class TestBeforeAnythingMoves:
    @pytest.mark.parametrize("linked", ["state", "state/0/1", "offsets", "sources", "commits/3"])
    @pytest.mark.parametrize("batch", [0, 3])
    def test_link(self, checkpoint: Path, linked: str, batch: int, tmp_path: Path) -> None:
        shutil.move(checkpoint / linked, tmp_path / "elsewhere")
        (checkpoint / linked).symlink_to(tmp_path / "elsewhere")
        reason = refused(rewind(checkpoint, "--to-batch", batch, "--apply", "--job-is-stopped"))
        assert f"{checkpoint / linked} is a link" in reason
        assert not (checkpoint / ".headgate-rewind").exists()

    def test_link_that_leads_nowhere_or_in_a_circle(self, checkpoint: Path) -> None:
        (checkpoint / "state/0/circle").symlink_to(checkpoint / "state")
        (checkpoint / "state/0/nowhere").symlink_to(checkpoint / "nothing")
        assert "is a link" in refused(rewind(checkpoint, "--to-batch", 2))

    def test_link_to_the_whole_checkpoint_is_followed(self, checkpoint: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(checkpoint)
        before = tree(checkpoint)
        apply(tmp_path / "link", 2)
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == before

    @pytest.mark.parametrize("closed", ["", "state/0/1", "offsets", "state/0"])
    def test_folder_that_must_not_be_written_to(self, closed: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            checkpoint = plant(Path(scratch) / "checkpoint", Shape(), BATCHES)
            for path in (Path(scratch), *Path(scratch).rglob("*")):
                path.chmod(0o777 if path.is_dir() else 0o666)
            before = tree(checkpoint)
            (checkpoint / closed).chmod(0o555)
            with without_roots_rights():
                answer = rewind(checkpoint, "--to-batch", 0, "--apply", "--job-is-stopped")
            assert answer.code in (1, 2)
            assert answer.error.count("\n") == 1
            assert f"{checkpoint / closed}" in answer.error
            assert tree(checkpoint) == before
            assert not (checkpoint / ".headgate-rewind").exists()
            (checkpoint / closed).chmod(0o777)

    def test_folder_on_another_file_system(self, checkpoint: Path) -> None:
        (checkpoint / "other").symlink_to("/proc")
        assert "other is on another file system" in str(LocalFiles(checkpoint).why_unmovable(["state", "other"]))
        assert LocalFiles(checkpoint).why_unmovable(["state", "state/0/1", "not-there"]) is None

    def test_move_that_fails_all_the_same_names_the_way_back(
        self, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = tree(checkpoint)
        move = LocalFiles.move

        def full(self: LocalFiles, source: str, target: str) -> None:
            if source == "commits/3":
                raise OSError(28, "No space left on device")
            move(self, source, target)

        monkeypatch.setattr(LocalFiles, "move", full)
        answer = rewind(checkpoint, "--to-batch", 2, "--apply", "--job-is-stopped")
        assert answer.code == 1
        assert "No space left on device; a rewind to batch 2 was cut short; finish it with" in answer.error
        assert "or take it back with `--undo`" in answer.error
        monkeypatch.undo()
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == before

    def test_journal_that_cannot_be_written_leaves_nothing(
        self, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(local_files.os, "fsync", full)
        assert rewind(checkpoint, "--to-batch", 2, "--apply", "--job-is-stopped").code == 1
        assert not (checkpoint / ".headgate-rewind").exists()


class TestWhatSparkWillNeed:
    def refusal(self, checkpoint: Path, batch: int) -> str:
        before = tree(checkpoint)
        reason = refused(rewind(checkpoint, "--to-batch", batch, "--apply", "--job-is-stopped"))
        assert tree(checkpoint) == before
        return reason

    def test_partition_that_is_missing_altogether(self, checkpoint: Path) -> None:
        shutil.rmtree(checkpoint / "state/0/1")
        plant(checkpoint / "keyed", Shape(schema_keys="integer"), BATCHES)
        for name in ("state/0/0/_metadata", "state/0/_metadata"):
            shutil.copytree(checkpoint / "keyed" / name, checkpoint / name)
        shutil.rmtree(checkpoint / "keyed")
        assert "state version 2, which is purged or missing in operator 0, partition 1" in self.refusal(checkpoint, 2)

    @pytest.mark.parametrize("partition", [0, 1, 2])
    def test_one_partition_of_three(self, folder: Path, partition: int) -> None:
        plant(folder, Shape(partitions=3), BATCHES)
        shutil.rmtree(folder / f"state/0/{partition}")
        assert f"missing in operator 0, partition {partition}" in self.refusal(folder, 2)

    def test_store_of_a_join(self, folder: Path) -> None:
        plant(folder, Shape(stores=JOIN_STORES), BATCHES)
        shutil.rmtree(folder / "state/0/1" / JOIN_STORES[2])
        assert f"partition 1, store {JOIN_STORES[2]}" in self.refusal(folder, 2)

    def test_operator_between_others(self, checkpoint: Path) -> None:
        shutil.copytree(checkpoint / "state/0", checkpoint / "state/2")
        assert "missing in operator 1, partition 0" in self.refusal(checkpoint, 2)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"", "is empty"),
            (COMPRESSED[:-1], "is cut short"),
            (COMPRESSED[: -len(LZ4_END)], "is cut short"),
            (COMPRESSED[:40], "is cut short"),
        ],
    )
    @pytest.mark.parametrize("kind", ["delta", "changelog", "snapshot"])
    def test_compressed_file(self, folder: Path, kind: str, content: bytes, told: str) -> None:
        plant(folder, Shape(kinds=(kind,)), BATCHES)
        damage(folder / f"state/0/1/2.{kind}", content)
        reason = self.refusal(folder, 2)
        assert f"batch 2 starts from state/0/1/2.{kind}, which {told}; the nearest batch that works is 1" in reason

    def test_file_that_is_not_compressed_as_the_setting_says(self, checkpoint: Path) -> None:
        conf = {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.stateStore.compression.codec": "lz4"}
        damage(checkpoint / "offsets/1", offsets(1, conf))
        damage(checkpoint / "state/0/0/2.delta", "v1\n{}")
        assert "state/0/0/2.delta, which is not what Spark writes" in self.refusal(checkpoint, 2)

    def test_file_that_differs_from_its_checksum(self, checkpoint: Path) -> None:
        changed = bytearray(COMPRESSED)
        changed[30] ^= 1
        (checkpoint / "state/0/0/2.delta").write_bytes(changed)
        assert "state/0/0/2.delta, which differs from its checksum" in self.refusal(checkpoint, 2)

    def test_sparks_own_checksum_knows_the_size(self, checkpoint: Path) -> None:
        note = checkpoint / "state/0/0/2.delta.crc"
        note.write_text('{"algorithm":"CRC32C","value":1,"mainFileSize":5}')
        assert "state/0/0/2.delta, which differs from its checksum" in self.refusal(checkpoint, 2)
        note.write_text("[]")
        assert "which has a damaged checksum file state/0/0/2.delta.crc" in self.refusal(checkpoint, 2)

    @pytest.mark.parametrize(
        "content", [b"", b"PK", snapshot({"a": 1})[:-1], snapshot({})[:60], b"[]", snapshot({"gone.sst": 1})]
    )
    def test_snapshot(self, folder: Path, content: bytes) -> None:
        plant(folder, Shape(kinds=("zip",)), BATCHES)
        damage(folder / "state/0/1/3.zip", content)
        reason = self.refusal(folder, 3)
        assert "batch 3 starts from state/0/1/3.zip, which" in reason
        assert "the nearest batch that works is 2 or 4." in reason

    @pytest.mark.parametrize("content", [None, b"", b"sort"])
    def test_sst_file_and_what_is_offered_works(self, folder: Path, content: bytes | None) -> None:
        plant(folder, Shape(kinds=("zip",)), BATCHES)
        for version in (2, 3):
            damage(folder / f"state/0/1/SSTs/{version:06}-1.sst", content)
        assert "the nearest batch that works is 1 or 4." in self.refusal(folder, 3)
        apply(folder, 1)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("\n".join(offsets(1).split("\n")[:2]), "is cut short"),
            (offsets(1)[:-2], "is cut short or not what Spark writes"),
            (offsets(1) + "\n\n", "is cut short or not what Spark writes"),
            ("v9\n{}\n{}", "whose format v9 is newer than this tool"),
            ("", "is empty"),
            (None, "is purged or missing"),
        ],
    )
    def test_offsets(self, checkpoint: Path, content: str | None, told: str) -> None:
        damage(checkpoint / "offsets/1", content)
        reason = self.refusal(checkpoint, 2)
        assert f"batch 2 starts from offsets/1, {'' if 'format' in told else 'which '}{told}; the nearest" in reason
        assert "works is 1 or 4." in reason

    def test_offsets_that_have_lost_a_source(self, checkpoint: Path) -> None:
        damage(checkpoint / "offsets/1", offsets(1).rpartition("\n")[0])
        reason = self.refusal(checkpoint, 2)
        assert "batch 2 starts from offsets/0 and 1, of which one has lost a source; the nearest" in reason
        assert "works is 1 or 4." in reason

    def test_sparks_temporary_files_go_too_when_all_goes(self, checkpoint: Path) -> None:
        for name in ("offsets/.5.0b1c.tmp", "commits/.4.0b1c.tmp", "offsets/._COPYING_", "state/0/0/.3.delta.0b1c.tmp"):
            (checkpoint / name).write_text("half")
        before = tree(checkpoint)
        apply(checkpoint, 0)
        assert {path.split("/")[0] for path in tree(checkpoint)} == {"metadata", ".metadata.crc", "sources"}
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == before

    def test_first_offsets_matter_when_all_goes(self, checkpoint: Path) -> None:
        damage(checkpoint / "sources/0/0", "")
        assert "batch 0 starts from sources/0/0, which is empty" in self.refusal(checkpoint, 0)
        apply(checkpoint, 2)

    @pytest.mark.parametrize("name", ["state/0/0/_metadata/schema", "state/0/_metadata/metadata"])
    def test_schema(self, folder: Path, name: str) -> None:
        plant(folder, Shape(schema_keys="integer"), BATCHES)
        damage(folder / name, (folder / name).read_bytes()[:-1])
        assert f"{name}, which is cut short" in self.refusal(folder, 2)

    def test_result_is_looked_at_before_done_is_said(self, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = tree(checkpoint)
        settle = LocalFiles.settle

        def lose(self: LocalFiles, paths: list[str]) -> None:
            damage(checkpoint / "state/0/1/2.delta", "")
            settle(self, paths)

        monkeypatch.setattr(LocalFiles, "settle", lose)
        answer = rewind(checkpoint, "--to-batch", 2, "--apply", "--job-is-stopped")
        monkeypatch.undo()
        assert answer.code == 1
        assert "Done" not in answer.out
        assert "starts from state/0/1/2.delta, which is empty, so a restart would not work" in answer.error
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        lost = {"state/0/1/2.delta", "state/0/1/.2.delta.crc"}
        assert {path: content for path, content in tree(checkpoint).items() if path not in lost} == {
            path: content for path, content in before.items() if path not in lost
        }


TORN = [None, "", "v1", "v1\n[]", "v1\n{", "\x00\x00"]


class TestOnlyWhatStaysIsRead:
    @pytest.mark.parametrize("content", TORN)
    @pytest.mark.parametrize("name", ["offsets/3", "commits/3", "offsets/4", "commits/4", "state/0/0/4.delta"])
    def test_damage_in_what_goes_is_cured(self, checkpoint: Path, name: str, content: str | None) -> None:
        damage(checkpoint / name, content)
        damaged = tree(checkpoint)
        apply(checkpoint, 3)
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == damaged

    @pytest.mark.parametrize("batch", [1, 2, 3])
    def test_torn_commit_of_format_2(self, folder: Path, batch: int) -> None:
        plant(folder, Shape(kinds=("changelog", "zip"), unique_ids=True), BATCHES)
        damage(folder / "commits/3", "")
        apply(folder, batch)

    def test_torn_batch_that_a_restart_would_begin_with(self, checkpoint: Path) -> None:
        damage(checkpoint / "commits/4", None)
        assert "batch 4 was not committed, so a restart begins with it" in refused(rewind(checkpoint, "--to-batch", 4))
        damage(checkpoint / "offsets/4", "")
        apply(checkpoint, 4)

    def test_commit_that_has_lost_the_ids_of_format_2(self, folder: Path) -> None:
        plant(folder, Shape(kinds=("zip",), unique_ids=True), BATCHES)
        damage(folder / "commits/2", "v2")
        reason = refused(rewind(folder, "--to-batch", 3))
        assert "batch 3 starts from commits/2, which does not say which files of state count" in reason

    def test_restart_that_would_fail_over_its_state(self, checkpoint: Path) -> None:
        damage(checkpoint / "commits/4", None)
        damage(checkpoint / "state/0/1/4.delta", "")
        reason = refused(rewind(checkpoint, "--to-batch", 4))
        assert "batch 4 starts from state/0/1/4.delta, which is empty; the nearest batch that works is 3." in reason

    def test_offsets_ahead_of_commits_by_more_than_one(self, checkpoint: Path) -> None:
        for batch in (3, 4):
            damage(checkpoint / f"commits/{batch}", None)
        assert "batch 4 was not committed" in refused(rewind(checkpoint, "--to-batch", 4))
        apply(checkpoint, 3)

    def test_offsets_with_a_gap(self, checkpoint: Path) -> None:
        for name in ("offsets/3", "commits/3", "commits/4"):
            damage(checkpoint / name, None)
        assert "batch 4 starts from offsets/3, which is purged" in refused(rewind(checkpoint, "--to-batch", 4))
        apply(checkpoint, 3)

    def test_commits_ahead_of_offsets(self, checkpoint: Path) -> None:
        damage(checkpoint / "offsets/4", None)
        apply(checkpoint, 4)

    @pytest.mark.parametrize("name", ["٣", "03", "+7", "٩٩"])
    def test_name_that_only_java_takes_for_a_number(self, checkpoint: Path, name: str) -> None:
        damage(checkpoint / "offsets" / name, "v1")
        damage(checkpoint / "offsets/notes", "mine")
        before = tree(checkpoint)
        assert "offsets 3-4" in rewind(checkpoint, "--to-batch", 3).out
        apply(checkpoint, 3)
        assert {path for path in tree(checkpoint) if path.startswith("offsets/") and ".crc" not in path} == {
            "offsets/0",
            "offsets/1",
            "offsets/2",
            "offsets/notes",
        }
        assert rewind(checkpoint, "--undo", "--job-is-stopped").code == 0
        assert tree(checkpoint) == before


class TestOneSentence:
    def test_watermark_in_microseconds(self, checkpoint: Path) -> None:
        damage(checkpoint / "commits/2", 'v1\n{"nextBatchWatermarkMs":1757005975492000}')
        assert "1757005975492000 ms after 1970, which is no date" in rewind(checkpoint, "--to-batch", 3).out

    @pytest.mark.parametrize("conf", ["[]", "{}", '"x"', "7", "null"])
    @pytest.mark.parametrize("watermark", ["0", '"x"', "null", "[]", "1e999", "true", "9" * 40])
    def test_offsets_of_another_shape(self, checkpoint: Path, conf: str, watermark: str) -> None:
        lines = offsets(2).split("\n")[2:]
        for about in (f'{{"batchWatermarkMs":{watermark},"conf":{conf}}}', conf, watermark):
            damage(checkpoint / "offsets/2", "\n".join(["v1", about, *lines]))
            answer = rewind(checkpoint, "--to-batch", 3)
            assert answer.code == 0 or "batch 3 starts from offsets/2, which" in refused(answer)

    @pytest.mark.parametrize(
        "ids", ['[["a"]]', '{"0":null}', '{"x":[["a"]]}', '{"0":[[1]]}', '{"0":["a"]}', "7", '"x"']
    )
    def test_commit_of_another_shape(self, folder: Path, ids: str) -> None:
        plant(folder, Shape(kinds=("zip",), unique_ids=True), BATCHES)
        damage(folder / "commits/2", f'v2\n{{"stateUniqueIds":{ids}}}')
        reason = refused(rewind(folder, "--to-batch", 3))
        assert "batch 3 starts from" in reason
        apply(folder, 2)

    @pytest.mark.parametrize(
        "offset", ['{"t":{"²":1}}', '{"t":{"0":"x"}}', '{"t":null}', "[[1]]", '"\\ud800"', "[red]", "{}"]
    )
    def test_source_of_another_shape(self, checkpoint: Path, offset: str) -> None:
        for batch in range(BATCHES):
            damage(checkpoint / f"offsets/{batch}", f"v1\n{{}}\n{offset}\n{offset}")
        answer = rewind(checkpoint, "--to-batch", 3)
        assert answer.code == 0 or "batch 3 starts from offsets/2" in refused(answer)
        answer.out.encode()

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"id":1}', '{"id":null}', "null", '{"id"'])
    def test_metadata_of_another_shape(self, checkpoint: Path, content: str) -> None:
        damage(checkpoint / "metadata", content)
        assert "has no readable `metadata`" in refused(rewind(checkpoint, "--to-batch", 3))

    @pytest.mark.parametrize("change", [{}, [], None, {"moves": {}}, {"phase": "x"}, {"stays": [1]}, {"to_batch": "2"}])
    def test_journal_of_another_shape(self, checkpoint: Path, change: object) -> None:
        apply(checkpoint, 2)
        (journal,) = checkpoint.glob(".headgate-rewind/*/journal.json")
        found = {**json.loads(journal.read_text()), **change} if isinstance(change, dict) and change else change
        journal.write_text(json.dumps(found))
        for words in (["--undo"], ["--to-batch", 1]):
            answer = rewind(checkpoint, *words, "--job-is-stopped")
            assert (answer.code, answer.error.count("\n")) == (1, 1)
            assert "journal.json is damaged" in answer.error

    @pytest.mark.parametrize("path", ["../metadata", "/etc/passwd", "offsets/../../x", ""])
    def test_journal_that_reaches_outside(self, checkpoint: Path, path: str) -> None:
        apply(checkpoint, 2)
        (journal,) = checkpoint.glob(".headgate-rewind/*/journal.json")
        found = json.loads(journal.read_text())
        found["moves"]["body"].append(path)
        journal.write_text(json.dumps(found))
        assert "journal.json is damaged" in rewind(checkpoint, "--undo", "--job-is-stopped").error

    @pytest.mark.parametrize("line", ['{"txn":7}', '{"txn":{"appId":1}}', '["txn"]', '{"txn"', '{"txn":{"appId":"a"}}'])
    def test_log_of_the_table_of_another_shape(self, checkpoint: Path, line: str, tmp_path: Path) -> None:
        log = tmp_path / "table/_delta_log"
        log.mkdir(parents=True)
        (log / f"{0:020}.json").write_text(line)
        answer = rewind(checkpoint, "--to-batch", 3, "--table", log.parent)
        assert (answer.code, answer.error.count("\n")) == (1, 1)
        assert "is not what Delta writes" in answer.error
        (log / f"{0:020}.json").write_text("{}")
        (log / f"{0:020}.checkpoint.parquet").write_text(line)
        assert "is not what Delta writes" in rewind(checkpoint, "--to-batch", 3, "--table", log.parent).error

    def test_folder_that_is_missing_or_a_file(self, checkpoint: Path, tmp_path: Path) -> None:
        assert "nowhere is not there: give the checkpointLocation" in refused(rewind(tmp_path / "nowhere", "--undo"))
        assert "is not a checkpoint" in refused(rewind(checkpoint / "metadata", "--to-batch", 1, "--apply"))

    @pytest.mark.parametrize("words", [(), ("--apply", "--job-is-stopped")])
    def test_reader_that_leaves_early(self, checkpoint: Path, words: tuple[str, ...]) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        process = command(checkpoint, "--to-batch", "3", "--verbose", *words, output=writing)
        os.close(writing)
        _, error = process.communicate()
        assert (process.returncode, error) == (0, "")
        assert (checkpoint / "offsets/3").exists() == (not words)


class TestUndo:
    def zips(self, folder: Path) -> Path:
        return plant(folder, Shape(kinds=("zip",)), BATCHES)

    @pytest.mark.parametrize("content", [b"", b"PK", snapshot({"never-was.sst": 1})])
    def test_damage_that_was_there_before_comes_back(self, folder: Path, content: bytes) -> None:
        self.zips(folder)
        damage(folder / "state/0/1/4.zip", content)
        before = tree(folder)
        apply(folder, 2)
        assert rewind(folder, "--undo", "--job-is-stopped").code == 0
        assert tree(folder) == before

    def test_what_has_been_deleted_since_does_not(self, folder: Path) -> None:
        self.zips(folder)
        damage(folder / "state/0/1/SSTs/000005-1.sst", None)
        apply(folder, 2)
        damage(folder / "state/0/1/SSTs/000004-1.sst", None)
        reason = refused(rewind(folder, "--undo", "--job-is-stopped"))
        assert "state/0/1/4.zip needs 000004-1.sst, which was there at the rewind and has been deleted since" in reason

    def test_file_missing_from_the_backup(self, checkpoint: Path) -> None:
        apply(checkpoint, 2)
        next(checkpoint.glob(".headgate-rewind/*/files/commits/3")).unlink()
        reason = refused(rewind(checkpoint, "--undo", "--job-is-stopped"))
        assert "commits/3 is neither in its place nor in the backup" in reason


class TestManyFiles:
    def test_plan_of_200_partitions_is_one_screen(self, folder: Path) -> None:
        plant(folder, Shape(partitions=200, checksums=False), BATCHES)
        shown = command(folder, "--to-batch", "2").communicate()[0].splitlines()
        assert len(shown) < 30
        assert any("0-199" in line and "3-5" in line and "600" in line for line in shown)
        assert len(command(folder, "--to-batch", "2", "--verbose").communicate()[0].splitlines()) > 200

    @pytest.mark.parametrize("find", [lambda n: n, lambda n: n - 70], ids=["at the end", "far back"])
    def test_search_for_what_works_ends(self, folder: Path, find: Callable[[int], int]) -> None:
        batches = 1000
        plant(folder, Shape(stores=(), checksums=False), batches)
        damage(folder / f"offsets/{find(batches - 1) - 1}", "")
        began = time.monotonic()
        assert "the nearest batch that works is" in refused(rewind(folder, "--to-batch", find(batches - 1)))
        assert time.monotonic() - began < 5
