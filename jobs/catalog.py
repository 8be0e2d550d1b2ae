"""All jobs and commands by name."""

from importlib import import_module
from importlib.util import find_spec

from jobs.job import AnyJob

NAMES = (
    "early-writer",
    "micro-batch-consumer",
    "visits-windows-counter",
    "visits-counter",
    "data-synchronization",
    "visits-counter-reprocessing",
    "browser-stats-stateless",
    "browser-stats-stateful",
    "visits-generator",
    "rewind-checkpoint",
    "broker",
    "jars",
)


def all_jobs() -> dict[str, AnyJob]:
    """Every job, in the order in which help lists them."""
    return {name: find_job(name) for name in NAMES if find_spec(_module(name))}


def find_job(name: str) -> AnyJob:
    """One job; the others are not imported."""
    job: AnyJob = import_module(_module(name)).JOB
    return job


def _module(name: str) -> str:
    return f"jobs.{name.replace('-', '_')}"
