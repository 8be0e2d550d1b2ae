"""Runs one job from the command line: its Kafka, its Spark, its end."""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.spark.failures import innermost_cause
from headgate.spark.queries import RunningJob
from headgate.spark.session import spark_session
from jobs.command.arguments import session_settings
from jobs.command.job import BatchJob, StreamingJob
from jobs.command.report import Report, progress_report
from jobs.command.secrets import Mask
from jobs.command.signals import StopSignals
from jobs.command.topics import prepare_topics

DONE, FAILED, INTERRUPTED = 0, 1, 130
LOOK_SECONDS = 0.3
JOBS = Path(__file__).parents[1]
# A run with an embedded Kafka is a try: it is over before Java's full compiler pays for itself.
QUICK_START = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def run_job(job: StreamingJob | BatchJob, options: argparse.Namespace) -> int:
    """Run the job to its end; the exit code tells how it went."""
    mask = Mask(options)
    try:
        with ExitStack() as held:
            signals = held.enter_context(StopSignals())
            settings = session_settings(job, options)
            if options.kafka is None:
                settings = QUICK_START | settings
                # Not needed, and perhaps not installed, where a cluster has its own Kafka.
                from jobs.command.demo_kafka import demo_kafka

                held.enter_context(demo_kafka(options))
            spark = held.enter_context(session_of(job, options, settings, mask))
            signals.take_over()
            if isinstance(job, BatchJob):
                return _run_batch(spark, job, options, signals)
            if getattr(options, "checkpoint", None) is None:
                options.checkpoint = f"{held.enter_context(tempfile.TemporaryDirectory())}/{job.name}"
            return _run_stream(spark, job, options, signals, mask)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (PySparkException, Py4JError) as error:
        cause = innermost_cause(str(error))
        return _fail(f"{job.name} failed: [{cause.name}] {cause.message}", str(error), options, mask)


@contextmanager
def session_of(
    job: StreamingJob | BatchJob, options: argparse.Namespace, settings: dict[str, str], mask: Mask
) -> Iterator[SparkSession]:
    """Spark, for as long as the job runs."""
    spark = spark_session(job.name, options.master, settings, verbose=options.verbose, mask=mask, ship=JOBS)
    try:
        yield spark
    finally:
        spark.stop()


def _run_batch(spark: SparkSession, job: BatchJob, options: argparse.Namespace, signals: StopSignals) -> int:
    signals.interrupts = True
    if signals.asked.is_set():
        return INTERRUPTED
    prepare_topics(spark, options)
    job.run(spark, options)
    return DONE


def _run_stream(
    spark: SparkSession, job: StreamingJob, options: argparse.Namespace, signals: StopSignals, mask: Mask
) -> int:
    if signals.asked.is_set():
        return DONE
    running = job.start(spark, options)
    signals.stopping = True
    with progress_report() as report:
        _watch(running, signals, report)
    failure = running.failure()
    running.stop(hurry=signals.hurry)
    return DONE if failure is None else _fail(str(failure), failure.trace, options, mask)


def _watch(running: RunningJob, signals: StopSignals, report: Report) -> None:
    """Report every batch until the job has ended or is asked to."""
    latest = -1
    ended = False
    while not ended:
        # Asked before the batches are looked at, so that the last ones are reported too.
        ended = running.await_end(LOOK_SECONDS) or signals.asked.is_set()
        if ended and signals.asked.is_set():
            running.stop(hurry=signals.hurry)
        for batch in running.batches_after(latest):
            report(batch)
            latest = batch.batch


def _fail(sentence: str, trace: str, options: argparse.Namespace, mask: Mask) -> int:
    if options.verbose:
        print(mask(trace), file=sys.stderr)
    print(mask(sentence), file=sys.stderr)
    return FAILED
