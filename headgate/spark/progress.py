"""What Spark reports of a batch, in the words of the walkthroughs."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class BatchProgress:
    """One batch as its query reported it."""

    job: str
    batch: int
    started: datetime
    rows_in: int
    rows_out: int | None
    rows_per_second: float
    watermark: datetime | None
    rows_dropped: int
    rows_in_state: int

    def as_json(self) -> dict[str, Any]:
        """The same with times as text and without what the query does not have."""
        shown = {
            key: value.isoformat() if isinstance(value, datetime) else value for key, value in asdict(self).items()
        }
        return {key: value for key, value in shown.items() if value is not None}


def batch_progress(report: Any) -> BatchProgress:
    """Read a StreamingQueryProgress."""
    operators = report.stateOperators
    return BatchProgress(
        job=report.name or "",
        batch=report.batchId,
        started=_time(report.timestamp),
        rows_in=report.numInputRows,
        rows_out=None if report.sink.numOutputRows < 0 else report.sink.numOutputRows,
        rows_per_second=round(_number(report.processedRowsPerSecond), 1),
        watermark=_watermark(report.eventTime),
        rows_dropped=sum(each.numRowsDroppedByWatermark for each in operators),
        rows_in_state=sum(each.numRowsTotal for each in operators),
    )


def _watermark(event_time: dict[str, str]) -> datetime | None:
    shown = event_time.get("watermark")
    if shown is None or shown.startswith("1970-01-01T00:00:00"):  # Spark's way to say that there is none yet
        return None
    return _time(shown)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _number(value: float) -> float:
    return value if value == value else 0.0  # Spark reports NaN for a batch that took no time
