"""Of a failure the innermost cause that means something is told, with Spark's name for it and the batch."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.kafka.embedded import EmbeddedKafka
from headgate.kafka.kafka import Kafka
from headgate.spark.failures import innermost_cause
from headgate.spark.queries import RunningJob
from jobs.command.job import NoAnswer, Refusal

VISIT = '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}'
JOB = "visits-windows-counter"
SECONDS = 120
# An outage ends a job after three of these; the defaults allow for about a minute.
IMPATIENT = ["--kafka-option", "request.timeout.ms=1000", "--kafka-option", "default.api.timeout.ms=2000"]


def failure_of(running: RunningJob) -> str:
    assert running.await_end(SECONDS)
    return str(running.failure())


def test_a_bad_record_is_named(start_job: Callable[..., RunningJob], topics, kafka: Kafka) -> None:
    topic = topics.make()
    topics.send(topic, VISIT, "no JSON")
    running = start_job(JOB, "--kafka", kafka.address, "--topic", topic, "--on-bad-record", "fail")
    assert failure_of(running) == (
        f"{JOB} failed in batch 0: [USER_RAISED_EXCEPTION] "
        f"bad record in topic {topic}, partition 0, offset 1: the value is not JSON"
    )


def test_an_error_of_the_output_is_named(start_job: Callable[..., RunningJob], topics, kafka: Kafka) -> None:
    def show(batch, number: int) -> None:
        batch.collect()
        if number == 1:
            raise OSError("the printer is out of paper")

    topic = topics.make()
    topics.send(topic, VISIT)
    running = start_job(JOB, "--kafka", kafka.address, "--topic", topic, show=show)
    assert failure_of(running) == f"{JOB} failed in batch 1: [OSError] the printer is out of paper"


def test_a_topic_deleted_under_a_running_job(start_job: Callable[..., RunningJob], topics, kafka: Kafka) -> None:
    topic = topics.make()
    running = start_job(JOB, "--kafka", kafka.address, "--topic", topic)
    running.process_all_available(SECONDS)
    topics.remove(topic)
    assert "[UnknownTopicOrPartitionException]" in failure_of(running)
    assert "The topic was deleted while the job ran." in failure_of(running)


@pytest.mark.parametrize("job", [JOB, "visits-counter"], ids=["printed", "to Kafka"])
def test_records_gone_that_the_checkpoint_needs(
    job: str, start_job: Callable[..., RunningJob], topics, kafka: Kafka
) -> None:
    topic = topics.make()
    words = ["--kafka", kafka.address, "--topic", topic]
    if job == "visits-counter":
        words += ["--output-topic", topics.make("counts")]
    topics.send(topic, VISIT, VISIT)
    running = start_job(job, *words)
    running.process_all_available(SECONDS)
    running.stop()
    topics.send(topic, VISIT, VISIT)
    topics.forget_records_before(topic, 4)

    said = failure_of(start_job(job, *words))
    assert "[KAFKA_DATA_LOSS" in said
    assert "--allow-data-loss goes on without them" in said

    going_on = start_job(job, *words, "--allow-data-loss")
    going_on.process_all_available(SECONDS)
    assert going_on.is_active


def test_a_missing_topic_is_refused(start_job: Callable[..., RunningJob], kafka: Kafka) -> None:
    with pytest.raises(Refusal, match="has no topic nosuchtopic: create it, or correct --topic") as refused:
        start_job(JOB, "--kafka", kafka.address, "--topic", "nosuchtopic")
    assert not isinstance(refused.value, NoAnswer)


def test_client_settings_that_contradict_each_other_are_refused(
    start_job: Callable[..., RunningJob], kafka: Kafka
) -> None:
    with pytest.raises(Refusal, match="Kafka's client does not take these settings"):
        start_job(JOB, "--kafka", kafka.address, "--kafka-option", "security.protocol=nonsense")


def test_a_batch_in_hand_is_finished_before_a_stop(
    start_job: Callable[..., RunningJob], topics, kafka: Kafka, tmp_path: Path
) -> None:
    begun, go_on, shown = threading.Event(), threading.Event(), []

    def show(batch, number: int) -> None:
        begun.set()
        assert go_on.wait(SECONDS)
        shown.append((number, batch.count()))

    topic = topics.make()
    topics.send(topic, VISIT)
    running = start_job(JOB, "--kafka", kafka.address, "--topic", topic, show=show)
    assert begun.wait(SECONDS)
    stopping = threading.Thread(target=running.stop)
    stopping.start()
    stopping.join(1)
    assert stopping.is_alive()
    go_on.set()
    stopping.join(SECONDS)
    assert shown == [(0, 1)]
    assert running.failure() is None
    assert (tmp_path / "checkpoint" / "commits" / "0").is_file()
    assert not (tmp_path / "checkpoint" / "offsets" / "1").exists()


def test_a_stop_in_a_hurry_interrupts_the_batch(
    start_job: Callable[..., RunningJob], topics, kafka: Kafka, tmp_path: Path
) -> None:
    begun, hurry = threading.Event(), threading.Event()

    def show(batch, number: int) -> None:
        begun.set()
        assert hurry.wait(SECONDS)
        batch.count()

    topic = topics.make()
    topics.send(topic, VISIT)
    running = start_job(JOB, "--kafka", kafka.address, "--topic", topic, show=show)
    assert begun.wait(SECONDS)
    stopping = threading.Thread(target=running.stop, kwargs={"hurry": hurry})
    stopping.start()
    hurry.set()
    stopping.join(SECONDS)
    assert not running.is_active
    assert not (tmp_path / "checkpoint" / "commits" / "0").exists()


def test_an_outage_is_ridden_out_and_a_long_one_ends_the_job(start_job: Callable[..., RunningJob], make_topics) -> None:
    kafka = EmbeddedKafka()
    try:
        topics = make_topics(kafka.address)
        topic = topics.make()
        rows: list[int] = []
        running = start_job(
            JOB,
            *["--kafka", kafka.address, "--topic", topic, *IMPATIENT],
            show=lambda batch, _: rows.append(sum(row["count"] for row in batch.collect())),
        )
        topics.send(topic, VISIT)
        running.process_all_available(SECONDS)
        kafka.pause()
        kafka.resume()
        topics.send(topic, VISIT)
        running.process_all_available(SECONDS)
        assert rows[-1] == 2 or rows[-2:] == [2, 0]
        kafka.pause()
        said = failure_of(running)
        assert "[TimeoutException]" in said
        assert "Kafka did not answer in time" in said
        with pytest.raises(NoAnswer, match=r"No Kafka answers at .* \(waited 2 s\)"):
            start_job(JOB, "--kafka", kafka.address, "--topic", topic, *IMPATIENT)
    finally:
        kafka.stop()


def test_a_python_worker_s_error_is_found() -> None:
    trace = """org.apache.spark.sql.streaming.StreamingQueryException: [STREAM_FAILED] Query [id = 1] terminated
\tat org.apache.spark.sql.X.run(X.scala:1)
Caused by: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing. SQLSTATE: 58030
\tat org.apache.spark.sql.X.run(X.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
KeyError: 'visit_id'

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
\t... 3 more
"""
    cause = innermost_cause(trace)
    assert (cause.name, cause.message) == ("KeyError", "'visit_id'")
