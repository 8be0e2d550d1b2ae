"""A job as a program: from the words on its command line to its exit code.

It exits 0 when the work is done or was stopped; 1 when it failed, or Kafka does not answer; 2 when what was asked for
is refused, as is a topic that is not there; 130 when work that has no good place to stop was interrupted.
"""

import sys
from collections.abc import Sequence

from headgate.errors import SandboxError
from jobs.command.arguments import parse
from jobs.command.job import AnyJob, NoAnswer, Refusal, Tool

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130


def run_command(job: AnyJob, words: Sequence[str] | None = None) -> int:
    """Do what the words ask for; the exit code tells how it went."""
    try:
        return _run(job, sys.argv[1:] if words is None else words)
    except NoAnswer as reason:
        return _say(reason, FAILED)
    except Refusal as refusal:
        return _say(refusal, REFUSED)
    except SandboxError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(job: AnyJob, words: Sequence[str]) -> int:
    try:
        options = parse(job, words)
    except SystemExit:  # argparse ends the program after --help
        return DONE
    if isinstance(job, Tool):
        return job.run(options)
    # Only now is Spark needed: help and refusals come at once.
    from jobs.command.runner import run_job

    return run_job(job, options)


def _say(sentence: Exception, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code
