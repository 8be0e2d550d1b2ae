"""Silence is an expectation too: what a scenario's jobs have put out and no step mentioned fails it at its end."""

from pathlib import Path

from headgate.compare.checks import counted
from headgate.stage.stage import Stage, versions_of


def unmentioned(stage: Stage) -> list[str]:
    """A sentence for everything that came out and was not mentioned."""
    stage.settle()
    found: list[str] = []
    if stage.refused is not None:
        found.append(f"a job was refused: {stage.refused}")
    for staged in stage.jobs.values():
        found += [stage.without_suffix(str(failure)) for failure in staged.unmentioned_failures()]
        if staged.has_ended and staged.failure() is None and not staged.end_mentioned:
            found.append(f"the {staged.name} was running and has ended")
        for which in staged.empty_states:
            reports = staged.progress(which)
            if reports and reports[-1].rows_in_state:
                found.append(
                    f"the state of the {staged.name}, said to be empty, holds {reports[-1].rows_in_state} rows"
                )
        found += [
            f"batch {batch.number} of {f'query {query} of ' if query else ''}the {staged.name} has "
            f"{counted(batch.rows.num_rows, 'row')}"
            for query, batch in staged.all_seen()
            if batch.rows.num_rows and not batch.mentioned and not batch.handed_on
        ]
        dropped = staged.rows_dropped()
        if dropped:
            found.append(f"the watermark dropped {counted(dropped, 'row')} of the {staged.name}")
    return found + _silent_topics(stage) + _silent_tables(stage)


def _silent_topics(stage: Stage) -> list[str]:
    starts = [start for staged in stage.jobs.values() for start in staged.starts()]
    written = {name for start in starts for name in start.topics_written}
    if any(start.topics_by_column for start in starts):
        stage.find_topics()
        written |= {name for name, topic in stage.topics.items() if not topic.sent}
    found = []
    for name in sorted(written & stage.topics.keys()):
        fresh = stage.topics[name].read_on(stage.patience)
        if fresh:
            values = "; ".join(stage.without_suffix(str(message.value())) for message in fresh[:5])
            found.append(f'{counted(len(fresh), "record")} in "{name}": {values}')
    return found


def _silent_tables(stage: Stage) -> list[str]:
    found = []
    for path in _tables_and_folders(stage):
        fresh = versions_of(path) - stage.tables_mentioned.get(str(path), 0)
        if fresh > 0:
            what = "versions of the table" if (path / "_delta_log").is_dir() else "files in"
            found.append(f'{fresh} new {what} "{stage.spoken_place(path)}"')
    return found


def _tables_and_folders(stage: Stage) -> list[Path]:
    tables = {log.parent for log in stage.folder.rglob("_delta_log")}
    # Tables by name that are not Delta's.
    by_name = [each for pattern in ("*", "*.db/*") for each in (stage.folder / "warehouse").glob(pattern)]
    tables |= {each for each in by_name if each.is_dir() and each.suffix != ".db"}
    starts = [start for staged in stage.jobs.values() for start in staged.starts()]
    return sorted(tables | {Path(place) for start in starts for place in start.places_written})
