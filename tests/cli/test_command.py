"""The command as a shell runs it: exit codes, signals, what goes to which stream."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.kafka.kafka import Kafka

VISIT = '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}'
QUICK = ["--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]


def numbers(folder: Path) -> set[int]:
    return {int(file.name) for file in folder.iterdir() if file.name.isdigit()}


@contextmanager
def steady_visits(topics, topic: str) -> Iterator[None]:
    """A batch is always in hand while visits keep coming."""
    enough = threading.Event()

    def send() -> None:
        while not enough.wait(0.02):
            topics.send(topic, VISIT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        enough.set()
        sender.join()


def test_available_now_prints_the_batches_and_nothing_else(headgate: Callable) -> None:
    run = headgate("run", "early-writer", "--available-now", "--send", "-", given=f"{VISIT}\nno JSON\n".encode())
    assert run.code() == 0, run.err
    assert run.out.startswith("-------------------------------------------\nBatch: 0\n")
    assert "|1       |1            |false      |" in run.out
    address, *batches, rejected = run.err.splitlines()
    assert address.startswith("Embedded Kafka at 127.0.0.1:")
    assert [json.loads(line)["batch"] for line in batches] == [0, 1]
    assert json.loads(batches[0]) | {"rows_in": 2, "rows_in_state": 1} == json.loads(batches[0])
    assert rejected == "rejected, the value is not JSON: no JSON"


@pytest.mark.parametrize("signal", ["press_ctrl_c", "terminate"])
def test_a_signal_ends_the_job_after_the_batch_in_hand(signal: str, headgate: Callable, topics, kafka: Kafka) -> None:
    topic = topics.make()
    with steady_visits(topics, topic):
        run = headgate("run", "visits-windows-counter", "--kafka", kafka.address, "--topic", topic, *QUICK)
        run.wait_for("Batch: 3")
        getattr(run, signal)()
        assert run.code() == 0, run.err
    checkpoint = run.out_file.parent / "checkpoints" / "visits-windows-counter"
    done = numbers(checkpoint / "commits")
    # A batch that is planned but not begun has put out nothing yet, and is the first of the next start.
    assert numbers(checkpoint / "offsets") - done <= {max(done) + 1}
    assert {int(line.split()[1]) for line in run.out.splitlines() if line.startswith("Batch: ")} == done
    assert {json.loads(line)["batch"] for line in run.err.splitlines()} == done


def test_a_failed_query_is_one_line_and_verbose_shows_more_but_no_secret(
    headgate: Callable, topics, kafka: Kafka
) -> None:
    topic = topics.make()
    topics.send(topic, "no JSON")
    words = [
        "run",
        "visits-counter",
        "--kafka",
        kafka.address,
        "--topic",
        topic,
        "--output-topic",
        topics.make("counts"),
    ]
    words += ["--on-bad-record", "fail", "--available-now", *QUICK]
    words += ["--kafka-option", "client.id=env:HEADGATE_TEST_SECRET"]
    quiet = headgate(*words, HEADGATE_TEST_SECRET="sesame-open")
    assert quiet.code() == 1
    reason = f"bad record in topic {topic}, partition 0, offset 0: the value is not JSON"
    assert quiet.err == f"visits-counter failed in batch 0: [USER_RAISED_EXCEPTION] {reason}\n"
    assert quiet.out == ""

    verbose = headgate(*words, "--verbose", HEADGATE_TEST_SECRET="sesame-open")
    assert verbose.code() == 1
    assert verbose.err.splitlines()[-1] == quiet.err.strip()
    assert "Caused by: org.apache.spark.SparkRuntimeException" in verbose.err
    assert "sesame-open" not in verbose.err


def test_a_missing_topic_is_refused(headgate: Callable, kafka: Kafka) -> None:
    run = headgate("run", "visits-windows-counter", "--kafka", kafka.address, "--topic", "nosuchtopic", *QUICK)
    assert run.code() == 2
    assert run.err.startswith(f"Kafka at {kafka.address} has no topic nosuchtopic")
    assert run.err.count("\n") == 1


def test_a_kafka_that_is_not_there_is_a_failure_and_its_client_s_log_has_no_secret(headgate: Callable) -> None:
    run = headgate(
        *["run", "visits-windows-counter", "--kafka", "127.0.0.1:1", "--verbose", *QUICK],
        *["--kafka-option", "default.api.timeout.ms=2000", "--kafka-option", "request.timeout.ms=1000"],
        *["--kafka-option", "client.id=env:HEADGATE_TEST_SECRET"],
        HEADGATE_TEST_SECRET="sesame-open",
    )
    assert run.code() == 1
    *log, sentence = run.err.splitlines()
    assert sentence == "No Kafka answers at 127.0.0.1:1 (waited 2 s): start it, or correct --kafka."
    assert any("clientId=*****" in line for line in log)
    assert "sesame-open" not in run.err


def test_a_java_that_does_not_start_leaves_its_last_words(headgate: Callable, kafka: Kafka) -> None:
    run = headgate("run", "early-writer", "--kafka", kafka.address, "--conf", "spark.driver.memory=nonsense")
    assert run.code() == 1
    assert run.err.startswith("Spark's Java did not start; its last words: ")
    assert "Invalid maximum heap size" in run.err
    assert run.err.count("\n") == 1
