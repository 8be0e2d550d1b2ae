"""Sinks: every batch is seen, and one can be made to fail."""

from textwrap import dedent

import pytest

from headgate.errors import StepFailure

from .conftest import HEAD, LINES, Scene, rows

PRINTED = """\
-------------------------------------------
Batch: 0
-------------------------------------------
+----+
|line|
+----+
|a   |
+----+"""


def stream(text: str) -> str:
    return HEAD + LINES + dedent(text)


@pytest.mark.parametrize("sink", ["console", "noop", "memory"])
def test_batches_are_recorded_the_empty_ones_too(sink: str, scene: Scene) -> None:
    text = f"lines.writeStream.format('{sink}').queryName('q').start().awaitTermination()"
    scene.stage.add_topic("lines", 1)
    query = scene.starts(stream(text))
    scene.send("lines", "a")
    scene.send("lines", "b", "c")
    assert [rows(query, number) for number in range(3)] == [[], [("a",)], [("b",), ("c",)]]


def test_the_console_s_own_text_still_comes_out(scene: Scene) -> None:
    scene.send("lines", "a")
    query = scene.starts(
        stream("lines.writeStream.format('console').option('truncate', False).start().awaitTermination()")
    )
    assert query.batch(0).printed.strip() == PRINTED


def test_a_memory_sink_can_be_asked(scene: Scene) -> None:
    text = """
    print(spark.catalog.tableExists("kept"))
    query = lines.writeStream.format("memory").queryName("kept").start()
    print(spark.table("kept").count())
    query.processAllAvailable()
    print([row.line for row in spark.sql("SELECT * FROM kept ORDER BY line").collect()])
    counts = lines.groupBy().count().writeStream.outputMode("complete").format("memory").queryName("n").start()
    counts.processAllAvailable()
    print(spark.table("n").collect())
    """
    scene.send("lines", "a", "b")
    assert scene.runs(stream(text)).splitlines() == ["False", "0", "['a', 'b']", "[Row(count=2)]"]


def test_a_function_gets_each_batch_after_it_was_recorded(scene: Scene) -> None:
    text = """
    def keep(batch, number):
        batch.persist()
        print(number, batch.count(), SparkSession.getActiveSession() is not None)
        batch.write.mode("append").parquet("/nowhere/kept")
        batch.selectExpr("line AS value").write.format("kafka").option("kafka.bootstrap.servers", "nowhere:1").option(
            "topic", "copy"
        ).save()
        batch.createOrReplaceTempView("batch")
        print(batch.sparkSession.sql("SELECT max(line) FROM batch").first()[0])
        batch.unpersist()

    lines.writeStream.foreachBatch(keep).start().awaitTermination()
    """
    scene.send("lines", "a", "b")
    query = scene.starts(stream(text))
    assert rows(query, 0) == [("a",), ("b",)]
    assert query.batch(0).printed == "0 2 True\nb\n"
    assert scene.received("copy") == ["a", "b"]


def test_foreach_gets_each_row_and_the_batch_is_recorded(scene: Scene) -> None:
    kept = scene.stage.folder / "kept"
    text = f"""
    class Writer:
        def open(self, partition, epoch):
            self.file = open("{kept}", "a")
            self.epoch = epoch
            return True

        def process(self, row):
            self.file.write(f"{{self.epoch}} {{row.line}};")

        def close(self, error):
            self.file.close()

    lines.writeStream.foreach(Writer()).start().awaitTermination()
    """
    scene.send("lines", "a", "b")
    query = scene.starts(stream(text))
    assert rows(query, 0) == [("a",), ("b",)]
    assert kept.read_text() == "0 a;0 b;"


def test_queries_are_told_apart_by_name_and_by_order(scene: Scene) -> None:
    text = """
    lines.writeStream.format("console").start()
    lines.selectExpr("upper(line)").writeStream.format("console").queryName("loud").start()
    spark.streams.awaitAnyTermination()
    """
    scene.send("lines", "a")
    scene.starts(stream(text))
    assert rows(scene.stage.query("first query of the stream"), 0) == [("a",)]
    assert rows(scene.stage.query("second query of the stream"), 0) == [("A",)]
    assert rows(scene.stage.query('query "loud" of the stream'), 0) == [("A",)]


SINKS = {
    "console": ("format('console')", None),
    "foreachBatch": ("foreachBatch(lambda batch, number: None)", None),
    "foreach": ("foreach(print)", None),
    "kafka": ("format('kafka').option('kafka.bootstrap.servers', 'x:1').option('topic', 'out')", "out"),
    "delta": ("format('delta').option('path', '/nowhere/t')", None),
    "parquet": ("format('parquet').option('path', '/nowhere/p')", None),
}


@pytest.mark.parametrize("after_sink", [False, True], ids=["in its middle", "after the sink"])
@pytest.mark.parametrize("sink", SINKS)
def test_a_batch_can_be_made_to_fail(sink: str, after_sink: bool, scene: Scene) -> None:
    how, topic = SINKS[sink]
    text = f"lines.selectExpr('line AS value').writeStream.{how}.start().awaitTermination()"
    scene.send("lines", "a")
    name = scene.program("stream", stream(text))
    scene.stage.break_batch(name, 0, after_sink=after_sink)
    scene.stage.start_job(name, [])
    assert "batch 0" in str(scene.stage.staged(name).failure())
    scene.stage.begin(scene.stage.staged(name))
    scene.stage.settle()
    assert scene.stage.staged(name).failure() is None
    if topic:
        # At least once: the half of a batch that was on its way is there too.
        assert scene.received(topic) == ["a", "a"]
    elif sink in ("delta", "parquet"):
        place = scene.stage.table_path(f"/nowhere/{'t' if sink == 'delta' else 'p'}")
        assert scene.stage.rows_of(place).num_rows == 1
    else:
        assert [batch.number for batch in scene.stage.query(name).seen()] == ([0, 0] if after_sink else [0])


ODD = {
    "two columns of one name": "lines.select('line', 'line')",
    "an interval": "lines.selectExpr('make_interval(1, 2) AS i', 'make_dt_interval(3) AS d')",
    "a variant": "lines.selectExpr('parse_json(\\'{\"a\": 1}\\') AS v')",
    "nothing but nulls": "lines.selectExpr('null AS n')",
    "a map": "lines.selectExpr('map(line, 1) AS m')",
    "bytes": "lines.selectExpr('CAST(line AS BINARY) AS b')",
    "a vector": "lines.select(array_to_vector(F.array(F.lit(1.0))).alias('v'))",
}


@pytest.mark.parametrize("select", ODD.values(), ids=ODD)
def test_rows_of_odd_types_are_recorded(select: str, scene: Scene) -> None:
    text = "from pyspark.ml.functions import array_to_vector\n" if "vector" in select else ""
    scene.send("lines", "a")
    query = scene.starts(stream(f"{text}{select}.writeStream.format('console').start().awaitTermination()"))
    assert scene.stage.staged("stream").failure() is None
    assert query.batch(0).rows.num_rows == 1


def test_a_pace_too_long_to_wait_for_is_not_waited_for(scene: Scene) -> None:
    scene.stage.add_topic("lines", 1)
    text = "lines.writeStream.format('console').trigger(processingTime='5 minutes').start().awaitTermination()"
    query = scene.starts(stream(text))
    scene.send("lines", "a")
    assert rows(query, 1) == [("a",)]


def test_a_continuous_stream_comes_in_batches(scene: Scene) -> None:
    scene.stage.add_topic("lines", 1)
    text = "lines.writeStream.format('console').trigger(continuous='1 second').start().awaitTermination()"
    query = scene.starts(stream(text))
    scene.send("lines", "a")
    assert rows(query, 1) == [("a",)]


def test_a_batch_breaks_in_a_function_of_the_program(scene: Scene) -> None:
    text = """
    def broken(batch, number):
        raise ValueError("no room left")

    lines.writeStream.foreachBatch(broken).start().awaitTermination()
    """
    scene.send("lines", "a")
    scene.starts(stream(text))
    assert "[ValueError] no room left" in str(scene.stage.staged("stream").failure())


def test_a_query_that_cannot_be_planned_fails_with_the_program_s_line(scene: Scene) -> None:
    text = "lines.groupBy('line').count().writeStream.format('console').start()"
    scene.stage.add_topic("lines", 1)
    with pytest.raises(StepFailure, match=r"stream\.py:\d+") as failed:
        scene.starts(stream(text))
    assert "Append output mode" in str(failed.value) or "STREAMING_OUTPUT_MODE" in str(failed.value)
