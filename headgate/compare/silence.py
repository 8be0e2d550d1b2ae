"""Silence is an expectation too: what a scenario's jobs have put out and no step mentioned fails it at its end."""

from pathlib import Path

from headgate.stage.stage import Stage, versions_of


def unmentioned(stage: Stage) -> list[str]:
    """A sentence for everything that came out and was not mentioned."""
    stage.settle()
    found: list[str] = []
    if stage.refused is not None:
        found.append(f"a job was refused: {stage.refused}")
    for staged in stage.jobs.values():
        failure = staged.failure()
        if failure is not None and not staged.failure_mentioned:
            found.append(stage.without_suffix(str(failure)))
        found += [
            f"batch {batch.number} of {f'query {query} of ' if query else ''}the {staged.name} has "
            f"{batch.rows.num_rows} rows"
            for query, batch in staged.all_seen()
            if batch.rows.num_rows and not batch.mentioned
        ]
        dropped = staged.rows_dropped() - staged.drops_mentioned
        if dropped:
            found.append(f"the watermark dropped {dropped} rows of the {staged.name}")
    return found + _silent_topics(stage) + _silent_tables(stage)


def _silent_topics(stage: Stage) -> list[str]:
    starts = [start for staged in stage.jobs.values() for start in staged.starts()]
    written = {name for start in starts for name in start.topics_written}
    if any(start.topics_by_column for start in starts):
        written |= {name for name, topic in stage.topics.items() if not topic.sent}
    found = []
    for name in sorted(written & stage.topics.keys()):
        fresh = stage.topics[name].read_on(stage.patience)
        if fresh:
            values = "; ".join(stage.without_suffix(str(message.value())) for message in fresh[:5])
            found.append(f'{len(fresh)} records in "{name}": {values}')
    return found


def _silent_tables(stage: Stage) -> list[str]:
    starts = [start for staged in stage.jobs.values() for start in staged.starts()]
    found = []
    for written in sorted({table for start in starts for table in start.tables_written}):
        path = stage.table_path(written) if not stage.world.is_inside(written) else Path(written)
        versions = versions_of(path) - stage.tables_mentioned.get(str(path), 0)
        if versions:
            found.append(f'{versions} new versions of the table "{stage.without_suffix(written)}"')
    return found
