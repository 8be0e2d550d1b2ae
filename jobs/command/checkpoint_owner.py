"""Knows which job a checkpoint belongs to.

Spark does not write that down, and two jobs may keep the very same kind of state. So a file beside the checkpoint,
its name with `.job`, names the job: beside it, as with the dead letters' checkpoint, so that the checkpoint's own tree
stays Spark's.
"""

import json
from pathlib import Path

from jobs.command.job import Refusal


def refuse_foreign(checkpoint: str, job: str, topic: str) -> None:
    """Refuse a checkpoint of another job, or of another topic; one that is not a local folder is left to Spark."""
    folder = _local(checkpoint)
    if folder is None or not is_begun(checkpoint):
        return
    note = _note(folder)
    owner = note.read_text().strip() if note.is_file() else job
    if owner != job:
        raise Refusal(f"The checkpoint {checkpoint} belongs to the job {owner}: give {job} another --checkpoint.")
    topics = _topics(folder)
    if topics and topic not in topics:
        raise Refusal(
            f"The checkpoint {checkpoint} is of topic {', '.join(topics)}, not {topic}: "
            "correct --topic, or give another --checkpoint."
        )


def is_begun(checkpoint: str) -> bool:
    """Whether a query has used the folder."""
    folder = _local(checkpoint)
    return folder is not None and (folder / "metadata").is_file()


def claim(checkpoint: str, job: str) -> None:
    """Note that the checkpoint is this job's."""
    folder = _local(checkpoint)
    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _note(folder).write_text(f"{job}\n")


def _local(checkpoint: str) -> Path | None:
    if "://" in checkpoint and not checkpoint.startswith("file://"):
        return None
    return Path(checkpoint.removeprefix("file://").removeprefix("file:"))


def _note(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.job")


def _topics(folder: Path) -> list[str]:
    batches = [file for file in (folder / "offsets").glob("*") if file.name.isdigit()]
    if not batches:
        return []
    latest = max(batches, key=lambda file: int(file.name))
    try:
        offsets = json.loads(latest.read_text().splitlines()[2])
    except (ValueError, IndexError):
        return []
    return sorted(offsets) if isinstance(offsets, dict) else []
