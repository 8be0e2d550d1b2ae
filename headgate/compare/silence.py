"""Silence is an expectation too: what a scenario's jobs have put out and no step mentioned fails it at its end."""

from steps.stage import Stage


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
            f"batch {batch.number} of the {staged.name} has {batch.rows.num_rows} rows"
            for batch in staged.seen
            if batch.rows.num_rows and not batch.mentioned
        ]
        dropped = staged.rows_dropped() - staged.drops_mentioned
        if dropped:
            found.append(f"the watermark dropped {dropped} rows of the {staged.name}")
        found += _silent_outputs(stage, staged.options)
    return found


def _silent_outputs(stage: Stage, options: object) -> list[str]:
    found = []
    written = {getattr(options, name, None) for name in ("output_topic", "dead_letter_topic")}
    for topic in stage.topics.values():
        if topic.real_name in written:
            fresh = topic.read_on(stage.patience)
            if fresh:
                values = "; ".join(stage.without_suffix(str(message.value())) for message in fresh[:5])
                found.append(f'{len(fresh)} records in "{topic.name}": {values}')
    for name, path in stage.tables.items():
        versions = stage.table_versions(name) - stage.tables_mentioned.get(name, 0)
        if getattr(options, "table", None) == str(path) and versions:
            found.append(f'{versions} new versions of the table "{name}"')
    return found
