"""Each sentence that says what must have come fails where it has not come, and says what came instead."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from textwrap import dedent, indent

import pytest
from pyspark.sql import SparkSession
from pytest_bdd.feature import get_feature
from pytest_bdd.parser import Step
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from headgate.compare.silence import unmentioned
from headgate.errors import FeatureMistake, StepFailure
from headgate.kafka.kafka import Kafka
from headgate.stage.stage import Stage

from .seam.conftest import PATIENCE, Scene

STREAM = """
import time
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
raw = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "production:9092")
    .option("subscribe", "visits")
    .option("startingOffsets", "earliest")
    .load()
)
visit = F.from_json(F.col("value").cast("string"), "visit_id BIGINT, event_time TIMESTAMP")
visits = raw.select(visit.alias("visit")).select("visit.*").withWatermark("event_time", "20 minutes")
visits.dropDuplicates(["visit_id", "event_time"]).writeStream.format("console").start()
raw.select("key", "value").writeStream.format("kafka").option("kafka.bootstrap.servers", "production:9092").option(
    "topic", "copy"
).start()
values = raw.selectExpr("CAST(value AS STRING) AS value", "partition")
values.writeStream.format("delta").partitionBy("partition").start("/lake/visits")
raw.selectExpr("CAST(value AS STRING) AS value").writeStream.format("json").start("/lake/files")
spark.streams.awaitAnyTermination()
"""
VISITS = [
    '{"visit_id": 1, "event_time": "2025-09-04T07:00:00"}',
    '{"visit_id": 2, "event_time": "2025-09-04T07:30:00"}',
    '{"visit_id": 3, "event_time": "2025-09-04T06:00:00"}',
]
WRONG = {
    "batch 0 is:\n| visit_id | event_time |\n| 9 | 07:00 |": "batch 0 is not what the feature says",
    "batch 0 is:\n| visit_id | event_time |\n| 1.0 | 07:00 |": "is int64, and the feature writes numbers with a point",
    "batch 0 is:\n| visit_id:string | event_time |\n| 1 | 07:00 |": "is int64, and the feature says string",
    "batch 77 of the stream is:\n| visit_id | event_time |": "batch 77 of the stream has not come; there are [0, 1",
    "batch 0 of the first start is:\n| visit_id | event_time |": "batch 0 is not what the feature says",
    "batch 0 of the second query of the stream is:\n| value |": "batch 0 of the second query of the stream has not",
    "batch 0 has 2 rows": "batch 0 has 1 row, and the feature says 2",
    "batch 1 has 1 row": "batch 1 has 0 rows, and the feature says 1",
    "batch 1 of the stream has 1 row": "batch 1 has 0 rows, and the feature says 1",
    "batch 1 of the stream has 7 rows": "batch 1 has 0 rows, and the feature says 7",
    "every line of the batches names its partition": "batch 0 was printed as",
    "batch 0 is empty": "batch 0 is not empty",
    "batch 0 of the stream is empty": "batch 0 is not empty",
    "batch 1 is empty, the watermark having moved to 06:41": "is 06:40, and the feature says 06:41",
    "batch 1 of the stream is empty, the watermark having moved to 06:41": "is 06:40, and the feature says 06:41",
    "there is no batch 1": "batch 1 has run",
    "there is no batch 0 of the second query of the stream": "batch 0 has run",
    "the watermark is 07:11": "is 07:10, and the feature says 07:11",
    "the watermark of the stream is 07:11": "is 07:10, and the feature says 07:11",
    "no row was dropped": "dropped 1 row, and the feature says 0",
    "2 rows were dropped by the watermark": "dropped 1 row, and the feature says 2",
    "the watermark of the stream dropped 4 rows": "dropped 1 row, and the feature says 4",
    "the state holds 7 rows": "holds 1 row, and the feature says 7",
    "the state of the stream holds 7 rows": "holds 1 row, and the feature says 7",
    "the state of the second query of the stream holds 1 row": "holds 0 rows, and the feature says 1",
    "the state of the third query of the stream holds 1 row": "holds 0 rows, and the feature says 1",
    "the state holds 0 rows": "holds 1 row, and the feature says 0",
    "no batch has more than 0 rows": "batches with more than 0 rows",
    "no batch has more than 99 rows": "the bound was not put to the test",
    'the batches together show every event of "visits" once': 'what was shown of "visits"',
    "no two batches start in the same interval of 86400 seconds": "in the same interval of 86400 s",
    'batch 1 is printed as:\n"""\nsomething else\n"""': "batch 1 was printed as",
    'the checkpoint of the stream holds:\n"""\nmetadata\n"""': "lacks nothing and also has",
    'the offsets of batch 0 of the stream are:\n"""\n{"visits": {"0": 7}}\n"""': "the offsets of batch 0 are",
    "the offsets of batch 0 of the stream carry these settings:\n| setting | value |\n| batchWatermarkMs | 7 |": (
        "batchWatermarkMs is 0"
    ),
    'the offsets of batch 0 of the stream have version "v7"': "begin with v1, and the feature says v7",
    "the checkpoint of the stream is as remembered": "the checkpoint of the stream has changed in",
    "the state of the stream is as remembered": "the state of the stream",
    'the files in "/lake/files" hold:\n| value |\n| x |': 'the files in "/lake/files" is not what',
    'the files in "/lake/none" hold:\n| value |\n| x |': "there is no '/lake/none': no program has written there",
    'the stream has failed with "anything"': "the stream has not failed",
    "the stream has ended": "the stream has not ended",
    "the short program is still running": "the short program is not running",
    'it is refused with "no room for you"': "it was refused, but with: no room left at all",
    'it prints "nothing of this"': "not printed: nothing of this",
    'it prints:\n"""\nnothing of this\n"""': "not printed:\n  nothing of this",
    'the table "/lake/visits" is at version 9': 'the log of table "/lake/visits" has',
    'the log of the table "/lake/visits" lists:\n"""\nx\n"""': 'the log of table "/lake/visits" has',
    'the table "/lake/visits" holds:\n| partition |\n| 9 |': 'the table "/lake/visits" is not what the feature says',
    'the table "/lake/visits" has these partitions:\n"""\npartition=9\n"""': "has the partitions:\npartition=0",
    '"copy" receives nothing': '"copy" has received 3 records more',
    '"copy" receives exactly:\n"""\nx\n"""': 'what "copy" has received is not what the feature says',
    '"copy" receives these records:\n| value | partition |\n| x | null |': 'what "copy" has received is not what',
    'the latest record of each key in "copy" is:\n"""\nx\n"""': 'the latest of each key in "copy" is not what',
}
MISTAKEN = {
    'it is refused with "room"': "could be said of many refusals",
    "batch 0 is:\n| visit_id | pages |\n| 1 | 1 |": "the stream has no column 'pages'",
    "batch 0 is:\n| visit_id |\n| 1 |": "also has event_time: mention every column",
    "batch 0 is:\n| visit_id:number | event_time |\n| 1 | 07:00 |": "'number' is not a type of Spark SQL",
    "batch 0 of the third start is:\n| visit_id | event_time |": "has been started 1 times in this scenario",
}


@pytest.fixture(scope="module")
def stage(spark: SparkSession, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A scenario in which a stream with four queries has had three visits, the last of them late."""
    folder = tmp_path_factory.mktemp("sentences")
    (folder / "project").mkdir()
    (folder / "scenario").mkdir()
    made = Stage(spark, kafka.address, folder / "scenario", PATIENCE, folder / "project", day=date(2025, 9, 4))
    scene = Scene(made)
    scene.send("visits", VISITS[0])
    scene.starts(STREAM)
    for sentence in ("the checkpoint of the stream is remembered", "the state of the stream is remembered"):
        _play(made, sentence, folder)
    for visit in VISITS[1:]:
        scene.send("visits", visit)
    scene.runs("import sys\nsys.exit('no room left at all')\n")
    yield made
    made.close()


def _play(stage: Stage, text: str, folder: Path) -> None:
    step = _step(text, folder)
    context = _context(step.name)
    stage.step = step
    for topic in stage.topics.values():
        # What other sentences have read is new to this one.
        topic.positions.clear()
    values = context.parser.parse_arguments(step.name) or {}
    if step.docstring is not None:
        values["docstring"] = step.docstring
    context.step_func(headgate_stage=stage, **values)


def _step(text: str, folder: Path) -> Step:
    file = folder / f"sentence{len(list(folder.glob('*.feature')))}.feature"
    sentence, _, body = text.partition("\n")
    lines = f"Feature: f\n  Scenario: s\n    Given {sentence}\n{indent(dedent(body), '      ')}\n"
    file.write_text(lines, encoding="utf-8")
    (template,) = get_feature(str(folder), file.name).scenarios.values()
    (step,) = template.render({}).steps
    return step


def _context(sentence: str) -> StepFunctionContext:
    found = [each for each in _vocabulary() if each.parser.is_matching(sentence)]
    assert found, f"there is no sentence '{sentence}'"
    return found[-1]


def _vocabulary() -> list[StepFunctionContext]:
    contexts = step_function_context_registry.values()
    return [each for each in contexts if each.step_func.__module__.startswith("headgate.steps.")]


@pytest.mark.parametrize("sentence", WRONG)
def test_a_sentence_that_is_not_so_fails(sentence: str, stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(StepFailure) as failed:
        _play(stage, sentence, tmp_path)
    assert WRONG[sentence] in str(failed.value)


@pytest.mark.parametrize("sentence", MISTAKEN)
def test_a_mistake_of_the_feature_is_told_apart(sentence: str, stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(FeatureMistake) as failed:
        _play(stage, sentence, tmp_path)
    assert MISTAKEN[sentence] in str(failed.value)


def test_every_sentence_of_the_vocabulary_has_been_seen_to_fail(stage: Stage) -> None:
    seen = {_context(text.partition("\n")[0]).step_func.__name__ for text in WRONG}
    outcomes = {each.step_func.__name__ for each in _vocabulary() if each.type == "then"}
    assert outcomes - seen == set()


def test_silence_is_about_everything(scene_of_silence: Scene) -> None:
    found = "\n".join(unmentioned(scene_of_silence.stage))
    for expected in (
        "a job was refused: no room left",
        "failed in batch",
        "the ended stream was running and has ended",
        '1 record in "copy"',
        'new versions of the table "/lake/batch"',
        'new files in "/lake/files"',
        "has 1 row",
        "number 2 of the",
        "said to be empty, holds 1 row",
    ):
        assert expected in found


@pytest.fixture
def scene_of_silence(spark: SparkSession, kafka: Kafka, tmp_path: Path) -> Iterator[Scene]:
    """A scenario in which nothing is mentioned: a refusal, a failure before a restart, an end, what programs wrote."""
    (tmp_path / "project").mkdir()
    (tmp_path / "scenario").mkdir()
    stage = Stage(spark, kafka.address, tmp_path / "scenario", PATIENCE, tmp_path / "project", day=date(2025, 9, 4))
    scene = Scene(stage)
    scene.send("visits", VISITS[0])
    scene.runs(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        "spark.range(1).write.format('delta').save('/lake/batch')\n"
    )
    scene.program(
        "ended stream",
        STREAM.partition('raw.select("key"')[0] + "spark.streams.active[0].processAllAvailable()\n"
        "spark.streams.active[0].stop()\n",
    )
    stage.start_job("ended stream", [])
    scene.program("failing stream", STREAM)
    stage.break_batch("failing stream", 0, after_sink=False)
    stage.start_job("failing stream", [])
    stage.staged("failing stream").stop()
    stage.begin(stage.staged("failing stream"))
    stage.staged("failing stream").mention_state(None, is_empty=True)
    scene.program(
        "two",
        STREAM.partition('raw.select("key"')[0]
        + ("visits.writeStream.format('console').start()\nspark.streams.awaitAnyTermination()\n"),
    )
    stage.start_job("two", [])
    scene.runs("import sys\nsys.exit('no room left at all')\n")
    yield scene
    stage.close()
