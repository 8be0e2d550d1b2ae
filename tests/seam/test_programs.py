"""The program itself: its words, its modules, its threads, how it ends, and how it is ended."""

import logging
import os
import signal
import sys
import threading
from textwrap import dedent

import pytest

from headgate.errors import FeatureMistake, StepFailure

from .conftest import HEAD, LINES, Scene, rows


def stream(text: str) -> str:
    return HEAD + LINES + dedent(text)


def test_it_finds_its_words_its_file_and_its_environment(scene: Scene) -> None:
    text = """
    import os, sys
    print(sys.argv[1:], os.path.basename(sys.argv[0]), os.path.basename(__file__), __name__)
    print(os.environ["WHO"], os.getenv("WHO"), "WHO" in os.environ, dict(os.environ)["WHO"])
    os.environ["MINE"] = "x"
    del os.environ["WHO"]
    print(os.environ.get("WHO"), os.environ["MINE"])
    """
    printed = scene.runs(text, "more", words="--day 4", environment={"WHO": "we"})
    name = "short_program.py"
    assert printed.splitlines() == [f"['--day', '4', 'more'] {name} {name} __main__", "we we True we", "None x"]
    assert "MINE" not in os.environ


def test_an_entry_point_is_called(scene: Scene) -> None:
    scene.write("src/shop/__init__.py", "")
    scene.write("src/shop/names.py", "NAME = 'shop'")
    scene.write("src/shop/report.py", "from shop.names import NAME\ndef main():\n    print(NAME)\n    return 3\n")
    scene.declare("report", run="shop.report:main")
    scene.stage.run_job("report", [])
    assert (scene.stage.printed, scene.stage.refused) == ("shop\n", "shop")
    scene.stage.refused = None
    assert "shop" not in sys.modules


def test_two_programs_have_a_config_each(scene: Scene) -> None:
    text = """
    import config
    {0}
    lines.selectExpr(f"'{{config.NAME}}' AS name").writeStream.format("console").start()

    def late(batch, number):
        import config, helper
        print(config.NAME, helper.NAME)

    lines.writeStream.foreachBatch(late).queryName("late").start()
    spark.streams.awaitAnyTermination()
    """
    body = HEAD + LINES
    for team in ("north", "south"):
        scene.write(f"{team}/config.py", f"NAME = '{team}'")
        scene.write(f"{team}/helper.py", f"NAME = 'helper of {team}'")
        scene.write(f"{team}/job.py", dedent(text).replace("{0}", body).replace("{{", "{").replace("}}", "}"))
        scene.declare(team, run=f"{team}/job.py")
    scene.send("lines", "a")
    for team in ("north", "south"):
        scene.stage.start_job(team, [])
    scene.send("lines", "b")
    for team in ("north", "south"):
        assert rows(scene.stage.query(team), 1) == [(team,)]
        assert scene.stage.query(f'query "late" of the {team}').batch(1).printed == f"{team} helper of {team}\n"


def test_functions_of_its_modules_run_on_spark_s_workers(scene: Scene) -> None:
    scene.write("deep/__init__.py", "")
    scene.write("deep/words.py", "SUFFIX = '!'\ndef loud(text):\n    return text.upper() + SUFFIX\n")
    scene.write("shapes.py", "from deep.words import loud\ndef louder(text):\n    return loud(loud(text))\n")
    text = """
    from pyspark.sql.functions import udf
    import shapes
    from deep.words import loud

    def each(batches):
        for frame in batches:
            frame["line"] = frame["line"].map(shapes.louder)
            yield frame

    loudly = udf(lambda line: loud(line))
    lines.select(loudly("line").alias("line")).mapInPandas(each, "line STRING").writeStream.format("console").start()
    spark.streams.awaitAnyTermination()
    """
    scene.send("lines", "a")
    assert rows(scene.starts(stream(text)), 0) == [("A!!!",)]


@pytest.mark.parametrize(
    "end", ["sys.exit('no room left')", "raise SystemExit('no room left')", "print('no room left'); os._exit(1)"]
)
def test_one_that_refuses_is_quoted(end: str, scene: Scene) -> None:
    scene.runs(f"import os, sys\n{end}\n")
    assert scene.stage.refused == "no room left"


def test_one_that_raises_is_told_with_its_file_and_line(scene: Scene) -> None:
    text = "print('so far so good')\ndef go():\n    return {}['shop']\ngo()\n"
    with pytest.raises(StepFailure, match=r"short_program\.py:3: \[KeyError\] 'shop'; it printed last: so far so good"):
        scene.runs(text)


def test_an_error_of_spark_is_told_in_one_sentence(scene: Scene) -> None:
    with pytest.raises(StepFailure) as failed:
        scene.runs(HEAD + "spark.table('nowhere')")
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in str(failed.value)
    assert "\n" not in str(failed.value)


def test_one_that_ends_without_a_query(scene: Scene) -> None:
    with pytest.raises(StepFailure, match="has ended without starting a query"):
        scene.starts("print('nothing to do')")


def test_one_that_never_gets_there(scene: Scene) -> None:
    scene.stage.patience = 0.5
    text = "import time\nprint('waiting')\nwhile True:\n    time.sleep(60)\n"
    with pytest.raises(StepFailure, match=r"after 0.5 s: it is at \S+stream\.py:4, and printed last: waiting"):
        scene.starts(text)


WRONG = {
    "not declared": ({}, "missing", "there is no job 'missing'; there are: stream"),
    "no file": ({"run": "gone.py"}, "stream", "there is no file .*gone.py"),
    "no Python": ({"run": "broken.py"}, "stream", r"does not compile: \S+broken.py:1"),
}


@pytest.mark.parametrize(("declared", "name", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_declaration_is_one_sentence(declared: dict[str, str], name: str, sentence: str, scene: Scene) -> None:
    scene.write("broken.py", "def (:\n")
    scene.declare("stream", **{"run": "broken.py", **declared})
    with pytest.raises(FeatureMistake, match=sentence) as refused:
        scene.stage.start_job(name, [])
    assert "\n" not in str(refused.value)


WAITS = {
    "for any query": "spark.streams.awaitAnyTermination()",
    "in a loop": "import time\nwhile True:\n    time.sleep(3600)",
    "for an event": "import threading\nthreading.Event().wait(3600)",
    "with a time limit": "while not query.awaitTermination(1):\n    pass",
    "in a thread": "import threading\nthreading.Thread(target=query.awaitTermination).start()",
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_one_that_waits_is_played_and_ended(wait: str, scene: Scene) -> None:
    scene.send("lines", "a")
    query = scene.starts(stream("query = lines.writeStream.format('console').start()") + "\n" + wait)
    assert rows(query, 0) == [("a",)]
    before = set(threading.enumerate())
    program = query.staged.program
    query.staged.stop()
    assert not query.staged.is_running
    if "Event" not in wait:  # Python ends a thread that waits for an event only when it wakes.
        assert not program.is_alive
    assert not (set(threading.enumerate()) - before)


def test_its_signal_handler_ends_it_in_its_own_way(scene: Scene) -> None:
    text = """
    import signal, sys, time

    def leave(number, frame):
        print("leaving on", number)
        query.stop()
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    query = lines.writeStream.format("console").start()
    while True:
        time.sleep(3600)
    """
    before = signal.getsignal(signal.SIGTERM)
    scene.stage.add_topic("lines", 1)
    staged = scene.starts(stream(text)).staged
    program = staged.program
    staged.stop()
    assert "leaving on 15" in program.output.getvalue()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_listener_hears_of_its_queries(scene: Scene) -> None:
    text = """
    from pyspark.sql.streaming import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event):
            print("started", event.name)

        def onQueryProgress(self, event):
            print("rows", event.progress.numInputRows)

        def onQueryIdle(self, event):
            pass

        def onQueryTerminated(self, event):
            print("ended")

    spark.streams.addListener(Listener())
    query = lines.writeStream.format("noop").queryName("listened").start()
    query.processAllAvailable()
    query.stop()
    """
    scene.send("lines", "a", "b")
    scene.runs(stream(text))
    output = scene.stage.staged("short program").starts()[0].output
    assert _comes(output, "started listened")
    assert _comes(output, "rows 2")
    assert _comes(output, "ended")


def _comes(output: object, text: str) -> bool:
    """Spark tells listeners in its own time."""
    done = threading.Event()
    for _ in range(200):
        if text in output.getvalue():
            return True
        done.wait(0.05)
    return False


def test_its_log_is_its_own(scene: Scene) -> None:
    text = """
    import logging
    logging.basicConfig(level=logging.INFO, format="%(name)s says %(message)s")
    logging.getLogger("shop").info("open")
    """
    level, handlers = logging.getLogger().level, list(logging.getLogger().handlers)
    scene.runs(text)
    assert scene.stage.printed == "shop says open\n"
    scene.stage.staged("short program").stop()
    assert (logging.getLogger().level, logging.getLogger().handlers) == (level, handlers)


def test_what_it_wants_done_at_its_end_is_done(scene: Scene) -> None:
    scene.runs("import atexit\natexit.register(print, 'bye')\nprint('hello')\n")
    assert scene.stage.printed == "hello\nbye\n"


def test_it_lives_as_long_as_its_threads(scene: Scene) -> None:
    text = """
    import threading, time
    def later():
        time.sleep(0.3)
        print("later", SparkSession.getActiveSession().range(2).count())
    threading.Thread(target=later).start()
    print("main is done")
    """
    assert scene.runs(HEAD + dedent(text)) == "main is done\nlater 2\n"


def test_it_can_be_started_again_and_again_with_fresh_modules(scene: Scene) -> None:
    scene.write("counted.py", "times = []")
    text = "import counted\ncounted.times.append(1)\nprint(len(counted.times))\n"
    assert (scene.runs(text), scene.runs(text)) == ("1\n", "1\n")


def test_several_queries_are_processed_before_a_step_is_over(scene: Scene) -> None:
    text = """
    lines.selectExpr("line AS value").writeStream.format("kafka").option("kafka.bootstrap.servers", "x:1").option(
        "topic", "middle"
    ).queryName("first").start()
    middle = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "x:1").option(
        "subscribe", "middle"
    ).option("startingOffsets", "earliest").load()
    middle.selectExpr("CAST(value AS STRING) AS value").writeStream.format("console").queryName("second").start()
    spark.streams.awaitAnyTermination()
    """
    scene.stage.add_topic("lines", 1)
    scene.starts(stream(text))
    scene.send("lines", "a")
    second = scene.stage.query('query "second" of the stream')
    assert [row for batch in second.seen() for row in batch.rows.to_pylist()] == [{"value": "a"}]
