"""Help says what there is; it needs no Spark and comes at once."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from headgate.command.cli import TOOLS
from headgate.project import declared_jobs

from .commands import NAMES, ROOT, find_tool, typed


def test_the_overview_lists_every_job_and_every_tool(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--help") == 0
    shown = capsys.readouterr().out
    for name, job in declared_jobs(ROOT).items():
        assert f"  {name} " in shown
        assert f" {job.run}\n" in shown
    for name in TOOLS:
        assert f"  {name} " in shown
        assert find_tool(name).summary in shown


@pytest.mark.parametrize("name", NAMES)
def test_each_job_and_each_tool_explains_itself(
    name: str, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*typed(name), "--help") == 0
    shown = capsys.readouterr().out
    called = " ".join(["headgate", *typed(name)])
    assert f"usage: {called} " in shown
    assert "example:\n" in shown
    assert called in shown.partition("example:\n")[2]


def test_help_and_refusals_start_no_java() -> None:
    program = (
        "import subprocess, sys\n"
        "def refuse(*_, **__): raise AssertionError('a process was started')\n"
        "subprocess.Popen.__init__ = refuse\n"
        "from headgate.command.cli import main\n"
        "from jobs.command.main import run_command\n"
        "from jobs.early_writer import JOB\n"
        "assert main(['--help']) == 0 and run_command(JOB, ['--help']) == 0\n"
        "assert run_command(JOB, ['--watermark', 'no']) == 2\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=30, capture_output=True)
