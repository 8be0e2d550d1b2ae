"""The account of a scenario that goes with every mismatch: what was sent, what came out, where the watermark stood."""

from headgate.spark.progress import BatchProgress
from headgate.stage.stage import Stage
from headgate.stage.staged_program import StagedProgram

MOST_EVENTS = 40
MOST_BYTES = 160


def account(stage: Stage) -> str:
    """Events sent so far, every batch so far, watermark and drops."""
    parts = [_events(stage), *[_batches(stage, staged) for staged in stage.jobs.values()]]
    return "\n\n".join(part for part in parts if part)


def _events(stage: Stage) -> str:
    lines = ["Events sent so far:"]
    for topic in stage.topics.values():
        shown = topic.sent[-MOST_EVENTS:]
        if len(shown) < len(topic.sent):
            lines.append(f"  {topic.name}: {len(topic.sent) - len(shown)} earlier ones")
        for sent in shown:
            value = "null" if sent.event.value is None else sent.event.value.decode(errors="replace")
            lines.append(f"  {topic.name}[{sent.partition}]@{sent.offset}  {value[:MOST_BYTES]}")
    return "\n".join(lines if len(lines) > 1 else ["Events sent so far: none"])


def _batches(stage: Stage, staged: StagedProgram) -> str:
    if not any(start.queries for start in staged.starts()):
        return ""
    lines = [f"Batches of the {staged.name} so far:"]
    seen = {batch.number: batch for batch in staged.seen()}
    reports = {report.batch: report for report in staged.progress()}
    for number in sorted(seen.keys() | reports.keys()):
        lines.append(f"  batch {number}: {_report(stage, reports.get(number))}")
        if number in seen:
            lines += [_row(stage, row) for row in seen[number].rows.to_pylist()]
    failure = staged.failure()
    if failure is not None:
        lines.append(f"  then: {stage.without_suffix(str(failure))}")
    return "\n".join(lines if len(lines) > 1 else [f"Batches of the {staged.name} so far: none"])


def _row(stage: Stage, row: dict[str, object]) -> str:
    return "    " + ", ".join(f"{name}={stage.shown(value)}" for name, value in row.items())


def _report(stage: Stage, report: BatchProgress | None) -> str:
    if report is None:
        return "not reported"
    return (
        f"{report.rows_in} in, watermark {stage.clock(report.watermark)}, "
        f"{report.rows_dropped} dropped, {report.rows_in_state} in state"
    )
