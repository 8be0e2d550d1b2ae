"""Runs one job from the command line: its broker, its Spark, its end."""

import argparse
import tempfile
from contextlib import ExitStack

from jobs.arguments import session_settings
from jobs.job import BatchJob, StreamingJob
from jobs.session import spark_session


def run_job(job: StreamingJob | BatchJob, options: argparse.Namespace) -> int:
    """Run the job to its end; the exit code tells how it went."""
    with ExitStack() as held:
        if options.kafka is None:
            from sandbox.embedded import EmbeddedKafka

            kafka = EmbeddedKafka()
            held.callback(kafka.stop)
            options.kafka = kafka.address
        spark = spark_session(job.name, options.master, session_settings(job, options))
        if isinstance(job, BatchJob):
            job.run(spark, options)
            return 0
        if options.checkpoint is None:
            options.checkpoint = tempfile.mkdtemp()
        running = job.start(spark, options, job.show or (lambda batch, number: None))
        while not running.await_end(1):
            pass
        failure = running.failure()
        if failure:
            print(failure)
        return 1 if failure else 0
