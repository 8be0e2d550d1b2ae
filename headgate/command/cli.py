"""The command `headgate`: runs a declared program, or one of the tools.

It exits as the program does; a tool exits 0 when it is done, 1 when it failed, 2 when what was asked for is refused,
130 when it was interrupted.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from headgate.command.tool import Tool
from headgate.errors import Refusal, SandboxError
from headgate.project import Declared, declared_jobs, find_job, find_project

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
USAGE = "usage: headgate run JOB [words of the job]\n       headgate TOOL [options]"
TOOLS = ("rewind-checkpoint", "broker", "jars")


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words ask for; the exit code tells how it went."""
    words = sys.argv[1:] if words is None else words
    try:
        if not words or words[0] in ("-h", "--help"):
            print(overview())
            return DONE if words else REFUSED
        if words[0] == "run":
            return _run(words[1:])
        return _tool(words[0])(words[1:])
    except SystemExit as end:  # argparse ends after --help
        return end.code if isinstance(end.code, int) else DONE
    except Refusal as refusal:
        return _say(refusal, REFUSED)
    except SandboxError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def overview() -> str:
    """What there is, a line each."""
    tools = {name: _tool(name) for name in TOOLS}
    jobs = _jobs()
    width = max(map(len, [*tools, *jobs])) + 2
    lines = [USAGE, "", "jobs that pyproject.toml declares here:"]
    lines += [f"  {name:{width}}{job.run}" for name, job in jobs.items()] or ["  none"]
    lines += ["", "tools:", *[f"  {name:{width}}{tool.summary}" for name, tool in tools.items()], ""]
    return "\n".join([*lines, "`headgate TOOL --help` shows a tool's options, their defaults and an example."])


def run_program(job: Declared, words: Sequence[str]) -> int:
    """Put the program in the place of this process, as if it had been started by itself."""
    job.check()
    environment = {**os.environ, **{key: value for key, value in job.environment.items() if "{" not in value}}
    if job.is_entry_point:
        module, _, function = job.run.partition(":")
        home = f"{job.project}{os.pathsep}{job.project / 'src'}"
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, environment.get("PYTHONPATH")]))
        start = f"import sys; from {module} import {function}; sys.exit({function}())"
        # The words come after what python itself reads.
        command = [sys.executable, "-c", start, *words]
    else:
        command = [sys.executable, str(job.script), *words]
    sys.stdout.flush()
    os.execve(sys.executable, command, environment)


def _run(words: Sequence[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return DONE if words else REFUSED
    return run_program(find_job(find_project(_project()), words[0]), words[1:])


def _jobs() -> dict[str, Declared]:
    return declared_jobs(find_project(_project()))


def _project() -> Path:
    return Path(os.environ.get("HEADGATE_PROJECT") or Path.cwd())


def _tool(name: str) -> Tool:
    if name not in TOOLS:
        raise Refusal(f"There is no tool {name}. See: headgate --help")
    tool: Tool = import_module(f"headgate.command.{name.replace('-', '_')}").TOOL
    return tool


def _say(sentence: Exception, code: int) -> int:
    text = str(sentence)
    print(text[0].upper() + text[1:], file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
