"""Kafka: the scenario's broker and topics, under the names that the program gives them."""

from textwrap import dedent

import pytest

from headgate.stage.topic import Event

from .conftest import HEAD, LINES, Scene, rows

TO_CONSOLE = """
read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "nowhere:9092")
for key, value in {options}.items():
    read = read.option(key, value)
query = read.load().selectExpr("topic", "partition", "CAST(value AS STRING)").writeStream.format("console").start()
query.awaitTermination()
"""
SUBSCRIBED = {
    "subscribe": ("{'subscribe': 'a, b', 'startingOffsets': 'earliest'}", [("a", 0, "1"), ("b", 0, "2")]),
    "pattern": ("{'subscribePattern': 'a|bb?', 'startingOffsets': 'earliest'}", [("a", 0, "1"), ("b", 0, "2")]),
    "assign": ("{'assign': '{\"b\": [0]}', 'startingOffsets': 'earliest'}", [("b", 0, "2")]),
    "offsets": (
        "{'subscribe': 'a,b', 'startingOffsets': '{\"a\": {\"0\": 1}, \"b\": {\"0\": -2}}'}",
        [("b", 0, "2")],
    ),
    "security": (
        "{'subscribe': 'b', 'startingOffsets': 'earliest', 'kafka.security.protocol': 'SASL_SSL',"
        " 'kafka.sasl.mechanism': 'PLAIN', 'kafka.sasl.jaas.config': 'x', 'kafka.ssl.truststore.location': '/x.jks'}",
        [("b", 0, "2")],
    ),
}


@pytest.mark.parametrize(("options", "expected"), SUBSCRIBED.values(), ids=SUBSCRIBED)
def test_a_stream_reads_the_scenario_s_topics(options: str, expected: list[tuple[str, int, str]], scene: Scene) -> None:
    for name in ("a", "b", "other"):
        scene.stage.add_topic(name, 1)
    scene.send("a", "1")
    scene.send("b", "2")
    scene.send("other", "3")
    query = scene.starts(HEAD + TO_CONSOLE.replace("{options}", options))
    assert rows(query, 0) == expected


def test_a_stream_writes_to_the_topic_of_its_option(scene: Scene) -> None:
    text = """
    query = (
        lines.selectExpr("upper(line) AS value").writeStream.format("kafka")
        .option("kafka.bootstrap.servers", "nowhere:9092").option("topic", "loud")
        .option("checkpointLocation", "/nowhere/loud").start()
    )
    query.awaitTermination()
    """
    scene.send("lines", "hello")
    scene.starts(HEAD + LINES + dedent(text))
    assert scene.received("loud") == ["HELLO"]


def test_a_stream_writes_to_the_topics_of_its_column(scene: Scene) -> None:
    text = """
    lines.selectExpr("concat('to-', line) AS topic", "line AS value").writeStream.format("kafka").option(
        "kafka.bootstrap.servers", "nowhere:9092"
    ).start().awaitTermination()
    """
    scene.stage.add_topic("to-a", 1)
    scene.stage.add_topic("to-b", 1)
    scene.send("lines", "a", "b")
    scene.starts(HEAD + LINES + dedent(text))
    assert (scene.received("to-a"), scene.received("to-b")) == (["a"], ["b"])


def test_a_topic_that_is_read_is_written_on_under_its_own_name(scene: Scene) -> None:
    text = """
    raw = spark.readStream.format("kafka").options(
        **{"kafka.bootstrap.servers": "nowhere:9092", "subscribe": "in", "startingOffsets": "earliest"}
    ).load()
    print(raw.isStreaming)
    raw.selectExpr("concat(topic, '-copy') AS topic", "value").writeStream.format("kafka").option(
        "kafka.bootstrap.servers", "nowhere:9092"
    ).start().awaitTermination()
    """
    scene.stage.add_topic("in-copy", 1)
    scene.send("in", "x")
    scene.starts(HEAD + dedent(text))
    assert scene.received("in-copy") == ["x"]


def test_batches_are_read_and_written(scene: Scene) -> None:
    text = """
    kafka = {"kafka.bootstrap.servers": "nowhere:9092"}
    read = spark.read.format("kafka").options(**kafka, subscribe="lines").option(
        "endingOffsets", '{"lines": {"0": 2}}'
    ).load()
    print(sorted(row.topic + ":" + row.value.decode() for row in read.collect()))
    read.select("value").write.format("kafka").options(**kafka, topic="copy").save()
    read.selectExpr("'by-column' AS topic", "value").write.format("kafka").options(**kafka).mode("append").save()
    """
    scene.stage.add_topic("by-column", 1)
    scene.send("lines", "1", "2", "3")
    assert scene.runs(HEAD + dedent(text)) == "['lines:1', 'lines:2']\n"
    assert (scene.received("copy"), scene.received("by-column")) == (["1", "2"], ["1", "2"])


def test_records_keep_key_headers_and_timestamp(scene: Scene) -> None:
    from datetime import UTC, datetime

    text = """
    read = spark.read.format("kafka").option("kafka.bootstrap.servers", "nowhere:9092").option("subscribe", "in")
    records = read.option("includeHeaders", "true").load()
    header = ["headers[0].key h", "CAST(headers[0].value AS STRING) v"]
    records.selectExpr("CAST(key AS STRING) k", "timestamp", *header).show(truncate=False)
    """
    scene.stage.add_topic("in", 1)
    moment = datetime(2025, 9, 4, 7, tzinfo=UTC)
    scene.stage.send("in", [Event(b"x", key=b"k", headers=(("from", b"till"),), timestamp=moment)])
    assert "|k  |2025-09-04 07:00:00|from|till|" in scene.runs(HEAD + dedent(text))


def test_words_name_what_does_not_go_through_pyspark(scene: Scene) -> None:
    text = """
    import os, sys
    from confluent_kafka import Producer

    address, topic = sys.argv[1:]
    producer = Producer({"bootstrap.servers": address})
    producer.produce(topic, os.environ["GREETING"])
    producer.flush(10)
    """
    scene.stage.add_topic("greetings", 1)
    scene.runs(text, words="{kafka} {topic greetings}", environment={"GREETING": "hello {topic greetings}"})
    (greeting,) = scene.received("greetings")
    assert scene.stage.without_suffix(greeting) == "hello greetings"
