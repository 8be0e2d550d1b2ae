"""What can be changed in a program, and where it is noted."""

from collections.abc import Callable

import pytest

from headgate.seam.meaning import Mutant, Watch, watching
from headgate.seam.variants import seconds_of, spoken
from tests.seam.conftest import HEAD, Scene

RATE = """
numbers = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
"""
VALUES = """
rows = spark.createDataFrame([(1, "a"), (2, "a"), (3, "b"), (3, "b")], "n INT, name STRING")
"""


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("10 minutes", 600), ("interval 1 hour 30 minutes", 5400), ("90 seconds", 90), ("100 milliseconds", 0.1)],
)
def test_an_interval_in_words_has_a_length(words: str, seconds: float) -> None:
    assert seconds_of(words) == seconds
    assert seconds_of(spoken(seconds)) == seconds


def test_what_is_no_interval_has_no_length() -> None:
    assert seconds_of("when it is over") is None


@pytest.fixture
def noted(scene: Scene) -> Callable[[str], dict[str, Mutant]]:
    """What could be changed in a program, by what is called and how it would be wrong."""

    def note(text: str) -> dict[str, Mutant]:
        watch = Watch()
        with watching(watch):
            scene.runs(HEAD + VALUES + RATE + text)
        return {f"{mutant.call} {mutant.name}": mutant for mutant in watch.noted}

    return note


@pytest.fixture
def printed(scene: Scene) -> Callable[[str, str], str]:
    """What a program prints that is wrong in one place."""

    def play(text: str, wrong: str) -> str:
        watch = Watch()
        with watching(watch):
            scene.runs(HEAD + VALUES + text)
            (watch.playing,) = [mutant for mutant in watch.noted if f"{mutant.call} {mutant.name}" == wrong]
            printed = scene.runs(HEAD + VALUES + text)
        assert watch.hits
        return printed

    return play


MORE_OR_LESS = ("higher", "lower", "gone")
STREAM = [
    ('numbers.withWatermark("timestamp", "10 minutes")', {"longer", "shorter", "a minute more", "gone"}),
    ('F.window("timestamp", "10 minutes")', {"longer", "shorter", "other slide", "other start", "gone"}),
    ('numbers.dropDuplicates(["value", "timestamp"])', {"gone", "fewer columns", "all columns"}),
    ('numbers.dropDuplicatesWithinWatermark(["value"])', {"gone", "all columns", "other horizon"}),
    ('numbers.writeStream.trigger(processingTime="2 seconds")', {"ignored", "other"}),
    ('numbers.writeStream.option("checkpointLocation", "/tmp/x")', {"checkpointLocation gone"}),
    ('numbers.groupBy("value").count().writeStream.outputMode("update")', {"append", "complete"}),
    ('numbers.writeStream.outputMode("update")', set()),
    ("numbers.writeStream.foreachBatch(print)", {"error swallowed", "called twice", "batch lost"}),
    ('spark.readStream.option("startingOffsets", "earliest")', {"startingOffsets other"}),
    (
        'spark.readStream.options(maxOffsetsPerTrigger="10")',
        {f"maxOffsetsPerTrigger {x}" for x in ("higher", "lower", "gone")},
    ),
    ('spark.conf.set("spark.sql.session.timeZone", "UTC")', {"other"}),
    ('numbers.select(F.col("value").cast("string").alias("key"), "timestamp")', {"column key lost"}),
]


@pytest.mark.parametrize(("text", "names"), STREAM, ids=[text for text, _ in STREAM])
def test_a_call_of_meaning_is_noted_with_its_place(
    text: str, names: set[str], noted: Callable[[str], dict[str, Mutant]]
) -> None:
    found = noted(text)
    line = (HEAD + VALUES + RATE).count("\n") + 1
    here = {mutant.name for mutant in found.values() if mutant.line == line}
    assert names <= here
    assert names or not here
    assert {mutant.file for mutant in found.values()} <= {"short_program.py"}


CHANGED = [
    ('print(rows.filter("n >= 2").count())', "3", "filter >= turned", "2"),
    ('print(rows.filter("n >= 2").count())', "3", "filter negated", "1"),
    ('print(rows.filter(F.col("n") > 2).count())', "2", "operator > turned", "3"),
    ("print(rows.limit(2).count())", "2", "limit higher", "3"),
    ("print(rows.distinct().count())", "3", "distinct gone", "4"),
    ('print(rows.groupBy("name").count().count())', "2", "groupBy key name lost", "1"),
    ('print(rows.agg(F.max("n")).first()[0])', "3", "max swapped", "1"),
    ('print(rows.groupBy().sum("n").first()[0])', "9", "sum swapped", "3"),
    ('print(spark.sql("SELECT 1 AS n WHERE 2 < 2").count())', "0", "sql < turned", "1"),
    ("print(rows.union(rows).count())", "8", "union gone", "4"),
]


@pytest.mark.parametrize(("text", "right", "wrong", "then"), CHANGED, ids=[each[2] for each in CHANGED])
def test_a_program_is_wrong_in_one_place(
    text: str,
    right: str,
    wrong: str,
    then: str,
    scene: Scene,
    printed: Callable[[str, str], str],
) -> None:
    assert scene.runs(HEAD + VALUES + text).split() == [right]
    assert printed(text, wrong).split() == [then]


def test_what_the_seam_itself_calls_is_not_noted(noted: Callable[[str], dict[str, Mutant]]) -> None:
    found = noted(
        'spark.readStream.format("kafka").option("subscribe", "lines")'
        '.option("kafka.bootstrap.servers", "broker:9092").load()'
    )
    assert not [name for name in found if name.startswith("withColumn")]


def test_what_pyspark_itself_calls_is_not_noted(noted: Callable[[str], dict[str, Mutant]]) -> None:
    assert not [name for name in noted("rows.first()") if name.startswith("limit")]
