"""All jobs and commands by name."""

from importlib import import_module

from jobs.job import AnyJob

MODULES = (
    "early_writer",
    "micro_batch_consumer",
    "visits_windows_counter",
    "visits_counter",
    "data_synchronization",
    "visits_counter_reprocessing",
    "browser_stats_stateless",
    "browser_stats_stateful",
)


def all_jobs() -> dict[str, AnyJob]:
    """Every job, in the order in which help lists them."""
    jobs = [import_module(f"jobs.{module}").JOB for module in MODULES]
    return {job.name: job for job in jobs}
