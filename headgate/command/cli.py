"""The command `sluice`: one word for the job, then the job's options.

It exits 0 when the work is done or was stopped; 1 when it failed, or Kafka does not answer; 2 when what was asked for
is refused, as is a topic that is not there; 130 when work that has no good place to stop was interrupted.
"""

import sys
from collections.abc import Sequence

from jobs.arguments import parse
from jobs.catalog import NAMES, all_jobs, find_job
from jobs.job import AnyJob, BatchJob, NoAnswer, Refusal, StreamingJob, Tool
from sandbox.errors import SandboxError

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
USAGE = "usage: sluice JOB [options]"
GROUPS: dict[str, type[AnyJob]] = {
    "jobs that run until they are stopped": StreamingJob,
    "jobs that run to their end": BatchJob,
    "tools": Tool,
}


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words ask for; the exit code tells how it went."""
    words = sys.argv[1:] if words is None else words
    try:
        if not words or words[0] in ("-h", "--help"):
            print(overview())
            return DONE if words else REFUSED
        return _run(_named(words[0]), words[1:])
    except NoAnswer as reason:
        return _say(reason, FAILED)
    except Refusal as refusal:
        return _say(refusal, REFUSED)
    except SandboxError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def overview() -> str:
    """What there is, a line each."""
    jobs = all_jobs()
    width = max(map(len, jobs)) + 2
    lines = [USAGE, ""]
    for title, kind in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {name:{width}}{job.summary}" for name, job in jobs.items() if isinstance(job, kind)]
        lines.append("")
    return "\n".join([*lines, "`sluice JOB --help` shows a job's options, their defaults and an example."])


def _named(name: str) -> AnyJob:
    if name not in NAMES:
        raise Refusal(f"There is no job {name}. See: sluice --help")
    return find_job(name)


def _run(job: AnyJob, words: Sequence[str]) -> int:
    try:
        options = parse(job, words)
    except SystemExit:  # argparse ends the program after --help
        return DONE
    if isinstance(job, Tool):
        return job.run(options)
    # Only now is Spark needed: help and refusals come at once.
    from jobs.runner import run_job

    return run_job(job, options)


def _say(sentence: Exception, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code
