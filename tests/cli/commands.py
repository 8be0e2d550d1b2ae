"""What there is after `headgate run` and after `headgate`."""

from importlib import import_module
from pathlib import Path

from headgate.command.cli import TOOLS
from headgate.command.tool import Tool
from headgate.project import declared_jobs
from jobs.command.job import AnyJob

ROOT = Path(__file__).parents[2]
JOBS = tuple(name.replace(" ", "-") for name in declared_jobs(ROOT))
NAMES = (*JOBS, *TOOLS)


def find_job(name: str) -> AnyJob:
    """The job that `headgate run NAME` runs."""
    job: AnyJob = import_module(f"jobs.{name.replace('-', '_')}").JOB
    return job


def find_tool(name: str) -> Tool:
    """The tool that `headgate NAME` is."""
    tool: Tool = import_module(f"headgate.command.{name.replace('-', '_')}").TOOL
    return tool


def typed(name: str) -> list[str]:
    """The words after `headgate`."""
    return ["run", name] if name in JOBS else [name]


def example_of(name: str) -> str:
    """The example of its help."""
    return find_job(name).example if name in JOBS else find_tool(name).example
