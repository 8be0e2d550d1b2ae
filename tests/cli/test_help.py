"""Help says what there is; it needs no Spark and comes at once."""

import subprocess
import sys

import pytest
from jobs.catalog import NAMES, all_jobs

from headgate.command.cli import main


def test_the_overview_lists_every_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, job in all_jobs().items():
        assert f"  {name} " in shown
        assert job.summary in shown


@pytest.mark.parametrize("name", NAMES)
def test_each_job_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: headgate {name}" in shown
    assert "example:\n" in shown
    assert f"headgate {name}" in shown.partition("example:\n")[2]


def test_help_and_refusals_start_no_java() -> None:
    program = (
        "import subprocess, sys\n"
        "def refuse(*_, **__): raise AssertionError('a process was started')\n"
        "subprocess.Popen.__init__ = refuse\n"
        "from headgate.command.cli import main\n"
        "assert main(['--help']) == 0 and main(['early-writer', '--help']) == 0\n"
        "assert main(['early-writer', '--watermark', 'no']) == 2\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30, capture_output=True)
