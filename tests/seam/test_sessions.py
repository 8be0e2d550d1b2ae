"""Sessions: a program gets one of its scenario's, with what it sets and can be set."""

from pyspark.sql import SparkSession

from .conftest import HEAD, LINES, Scene

BUILT = """
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

builder = (
    SparkSession.builder.appName("built")
    .master("spark://production:7077")
    .config("spark.jars.packages", "com.example:nothing:1.0")
    .config("spark.executor.memory", "64g")
    .config("spark.sql.shuffle.partitions", "7")
    .config("spark.sql.session.timeZone", "Europe/Lisbon")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.session.timeZone"))
print(spark.sparkContext.master, spark.sparkContext.getConf().get("spark.executor.memory", "as it was"))
"""


def test_what_can_be_set_holds_and_what_cannot_is_left_out(scene: Scene) -> None:
    assert scene.runs(BUILT).splitlines() == ["7 Europe/Lisbon", "local[2] as it was"]


def test_the_scenario_s_defaults_give_way(scene: Scene) -> None:
    scene.stage.zone = "Asia/Tokyo"
    shown = "print(spark.conf.get('spark.sql.shuffle.partitions'), spark.conf.get('spark.sql.session.timeZone'))"
    assert scene.runs(HEAD + shown) == "2 Asia/Tokyo\n"


def test_settings_declared_for_a_job_stand_below_its_own(scene: Scene) -> None:
    declared = {"spark.sql.shuffle.partitions": "5", "spark.sql.ansi.enabled": "false"}
    text = """
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", 3).getOrCreate()
    print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.ansi.enabled"))
    """
    assert scene.runs(text, settings=declared) == "3 false\n"


def test_there_is_one_session_for_all_who_ask(scene: Scene) -> None:
    text = """
    spark.range(3).createOrReplaceTempView("three")
    print(SparkSession.getActiveSession().table("three").count())
    print(SparkSession.active().table("three").count())
    print(SparkSession.builder.appName("again").getOrCreate().table("three").count())
    print(spark.newSession().catalog.tableExists("three"))
    """
    assert scene.runs(HEAD + _plain(text)).split() == ["3", "3", "3", "False"]


def test_older_ways_to_a_session(scene: Scene) -> None:
    text = """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession, SQLContext
    context = SparkContext(conf=SparkConf().setAppName("old").setMaster("yarn"))
    print(SparkSession(context).range(2).count(), SQLContext(context).range(3).count())
    print(SparkContext.getOrCreate().parallelize([1, 2, 3]).sum())
    context.setLogLevel("DEBUG")
    context.stop()
    print(SparkSession.builder.getOrCreate().range(4).count())
    """
    assert scene.runs(text).split() == ["2", "3", "6", "4"]


def test_stop_ends_the_program_s_queries_and_not_the_run_s_spark(scene: Scene, spark: SparkSession) -> None:
    text = """
    query = lines.writeStream.format("noop").start()
    query.processAllAvailable()
    spark.stop()
    print("active" if query.isActive else "ended")
    """
    scene.stage.add_topic("lines", 1)
    assert scene.runs(HEAD + LINES + _plain(text)) == "ended\n"
    assert spark.range(5).count() == 5


def test_programs_of_one_scenario_share_tables_and_not_settings(scene: Scene) -> None:
    first = "spark.conf.set('spark.sql.session.timeZone', 'Asia/Tokyo'); spark.range(3).write.saveAsTable('numbers')"
    scene.runs(HEAD + first)
    second = "print(spark.table('numbers').count(), spark.conf.get('spark.sql.session.timeZone'))"
    assert scene.runs(HEAD + second) == "3 UTC\n"


def test_code_of_no_program_sees_pyspark_untouched(scene: Scene, spark: SparkSession) -> None:
    scene.runs(HEAD + "print(type(spark.read).__name__)")
    assert scene.stage.printed == "LedReader\n"
    assert type(spark.read).__name__ == "DataFrameReader"
    assert SparkSession.builder.getOrCreate().sparkContext is spark.sparkContext


def test_batches_of_no_program_are_nobody_s_even_after_a_program_s(scene: Scene, spark: SparkSession) -> None:
    text = """
    query = lines.writeStream.foreachBatch(lambda batch, number: None).start()
    query.processAllAvailable()
    """
    scene.send("lines", "a")
    scene.runs(HEAD + LINES + _plain(text))
    writers: list[str] = []
    source = scene.stage.folder / "plain"
    spark.range(1).write.parquet(str(source))
    query = (
        spark.readStream.schema("id BIGINT")
        .parquet(str(source))
        .writeStream.option("checkpointLocation", str(scene.stage.folder / "plain-checkpoint"))
        .foreachBatch(lambda batch, number: writers.append(type(batch.write).__name__))
        .start()
    )
    query.processAllAvailable()
    query.stop()
    assert writers == ["DataFrameWriter"]


def _plain(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.splitlines())
