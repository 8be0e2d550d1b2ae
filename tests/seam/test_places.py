"""Paths and tables: they lead to the scenario's folder, and nothing is left where the program's own words point."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import HEAD, LINES, Scene, rows

FORMATS = ("parquet", "json", "csv", "text", "orc", "delta")


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A path as programs hard-code it."""
    path = tmp_path / f"hard-coded-{uuid.uuid4().hex[:8]}"
    yield path
    assert not path.exists(), "something was left outside the scenario"


@pytest.mark.parametrize("form", FORMATS)
def test_files_written_are_read_again(form: str, outside: Path, scene: Scene) -> None:
    text = f"""
    names = spark.createDataFrame([("north",), ("south",)], "name STRING")
    names.write.mode("overwrite").format("{form}").save("{outside}/saved")
    names.write.format("{form}").option("path", "file://{outside}/as-option").save()
    print(spark.read.schema("name STRING").format("{form}").load("{outside}/saved/").count())
    print(spark.read.schema("name STRING").format("{form}").option("path", "{outside}/as-option").load().count())
    """
    if form != "delta":
        text += f"""
    names.write.{form}("{outside}/by-method")
    print(spark.read.schema("name STRING").{form}("{outside}/by-method").count())
    """
    else:
        text = text.replace('.schema("name STRING")', "") + "print(2)"
    assert scene.runs(HEAD + dedent(text)).split() == ["2", "2", "2"]


@pytest.mark.parametrize("form", FORMATS)
def test_files_are_streamed_in_and_out(form: str, outside: Path, scene: Scene) -> None:
    schema = "" if form == "delta" else '.schema("value STRING")'
    text = f"""
    spark.createDataFrame([("x",), ("y",)], "value STRING").write.format("{form}").save("{outside}/in")
    stream = spark.readStream{schema}.format("{form}").load("{outside}/in")
    out = stream.writeStream.format("{form}").option("checkpointLocation", "{outside}/checkpoint")
    out.trigger(availableNow=True).start("{outside}/out").awaitTermination()
    print(spark.read{schema}.format("{form}").load("{outside}/out").count())
    """
    assert scene.runs(HEAD + dedent(text)) == "2\n"


def test_a_delta_table_by_its_path(outside: Path, scene: Scene) -> None:
    text = f"""
    from delta.tables import DeltaTable
    spark.range(3).write.format("delta").save("{outside}/t")
    print(DeltaTable.isDeltaTable(spark, "{outside}/t"), DeltaTable.isDeltaTable(spark, "{outside}/none"))
    DeltaTable.forPath(spark, "{outside}/t").delete("id = 0")
    spark.sql("INSERT INTO delta.`{outside}/t` VALUES (7)")
    print(spark.read.table("delta.`{outside}/t`").count(), spark.sql("SELECT * FROM delta.`{outside}/t`").count())
    builder = DeltaTable.createIfNotExists(spark).addColumn("a", "INT").location("{outside}/built").execute()
    print(builder.toDF().columns)
    stream = spark.readStream.format("delta").load("{outside}/t")
    stream.writeStream.trigger(availableNow=True).format("delta").start("{outside}/copy").awaitTermination()
    print(spark.read.format("delta").load("{outside}/copy").count())
    """
    assert scene.runs(HEAD + dedent(text)).splitlines() == ["True False", "3 3", "['a']", "3"]


def test_tables_by_name_are_the_scenario_s_own(outside: Path, scene: Scene) -> None:
    text = f"""
    from delta.tables import DeltaTable
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.range(2).write.format("delta").saveAsTable("shop.orders")
    spark.sql("CREATE TABLE elsewhere (id BIGINT) USING delta LOCATION '{outside}/elsewhere'")
    spark.sql("INSERT INTO elsewhere SELECT * FROM shop.orders")
    spark.range(5).write.option("path", "{outside}/external").saveAsTable("external")
    spark.range(1).writeTo("shop.made").using("delta").create()
    spark.range(1).write.insertInto("shop.orders")
    DeltaTable.forName(spark, "shop.orders").update("id = 1", {{"id": "100"}})
    print(spark.table("shop.orders").agg(F.max("id")).first()[0], spark.read.table("elsewhere").count())
    print(spark.sql("SELECT * FROM external").count(), spark.table("shop.made").count())
    """
    assert scene.runs(HEAD + dedent(text)).splitlines() == ["100 2", "5 1"]
    assert (scene.stage.folder / "warehouse" / "shop.db" / "orders" / "_delta_log").is_dir()
    assert scene.runs(HEAD + "print([each.name for each in spark.catalog.listDatabases()])") == "['default', 'shop']\n"


def test_another_scenario_knows_none_of_them(scene: Scene) -> None:
    shown = "print(spark.catalog.tableExists('left_behind'))"
    assert scene.runs(HEAD + "spark.range(2).write.saveAsTable('left_behind');" + shown) == "True\n"
    assert not scene.stage.spark.catalog.tableExists("left_behind")


def test_a_stream_into_a_table_by_name(scene: Scene) -> None:
    scene.send("lines", "a", "b")
    scene.starts(HEAD + LINES + "lines.writeStream.toTable('kept').awaitTermination()")
    assert scene.stage.rows_of(scene.stage.table_path("kept")).to_pylist() == [{"line": "a"}, {"line": "b"}]


def test_a_scheme_leads_to_the_scenario_too(scene: Scene) -> None:
    text = "spark.range(2).write.parquet('s3a://bucket/x'); print(spark.read.parquet('s3a://bucket/x/').count())"
    assert scene.runs(HEAD + text) == "2\n"


def test_one_place_for_all_programs_however_it_is_spelled(outside: Path, scene: Scene) -> None:
    scene.runs(HEAD + f"spark.range(2).write.parquet('{outside}/a/b')")
    spellings = [f"{outside}/a/b/", f"file:{outside}/a/b", f"file://{outside}/a/b", f"{outside}/x/../a/./b"]
    counts = "".join(f"print(spark.read.parquet('{each}').count());" for each in spellings)
    assert scene.runs(HEAD + counts).split() == ["2"] * 4


def test_a_relative_path_is_the_project_s(scene: Scene) -> None:
    absolute = scene.stage.project / "out"
    text = f"spark.range(2).write.parquet('out'); print(spark.read.parquet('{absolute}').count())"
    assert scene.runs(HEAD + text) == "2\n"
    assert not absolute.exists()


def test_a_file_of_the_project_is_read_as_a_copy(scene: Scene) -> None:
    scene.write("data/names.csv", "north\nsouth\n")
    scene.write("data/more/names.csv", "east\n")
    read = "print(spark.read.csv('data/names.csv').count(), spark.read.csv('data/*.csv').count());"
    write = "spark.range(1).write.mode('append').csv('data/more'); print(spark.read.csv('data/more').count())"
    assert scene.runs(HEAD + read + write) == "2 2\n1\n"
    assert sorted(file.name for file in (scene.stage.project / "data" / "more").iterdir()) == ["names.csv"]


def test_a_program_without_a_checkpoint_can_be_started_again(scene: Scene) -> None:
    scene.send("lines", "a")
    query = scene.starts(HEAD + LINES + "lines.writeStream.format('console').start().awaitTermination()")
    scene.stage.staged("stream").stop()
    scene.send("lines", "b")
    scene.stage.begin(scene.stage.staged("stream"))
    assert rows(scene.stage.query("first start of the stream"), 0) == [("a",)]
    assert rows(query, 1) == [("b",)]


def test_a_checkpoint_location_for_the_whole_session(outside: Path, scene: Scene) -> None:
    text = f"""
    spark.conf.set("spark.sql.streaming.checkpointLocation", "{outside}")
    lines.writeStream.queryName("named").format("noop").start().awaitTermination()
    """
    scene.send("lines", "a")
    query = scene.starts(HEAD + LINES + dedent(text))
    assert query.checkpoint().name == "named"
    assert query.checkpoint().is_relative_to(scene.stage.folder)
