"""Moves files out of a checkpoint and back, so that being killed at any moment leaves a way on and a way back.

The backup is a hidden folder inside the checkpoint: the same file system and the same rights by construction, so every
move is a rename, and it travels with the checkpoint. Spark only ever looks at the folders it made itself.

The journal is written before the first move and holds all of them. Every step can be repeated: a file is either still
in its place, or already in the other one. Which phase it is says what to do next.
"""

import json
import re
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from headgate.rewind.checkpoint import BACKUPS, BATCH, STATE_FILE, sort_files
from headgate.rewind.errors import DamageError, FailureError, RefusalError
from headgate.rewind.files import DRAFT, Files
from headgate.rewind.plan import Moves, Rewind, state_obstacle
from headgate.rewind.shapes import json_or_none, part
from headgate.rewind.sound import files_of_zip

JOURNAL = "journal.json"
JOURNAL_FILE = re.compile(rf"{re.escape(BACKUPS)}/([^/]+)/{re.escape(JOURNAL)}({re.escape(DRAFT)})?")
BACKUP_NUMBER = re.compile(rf"{re.escape(BACKUPS)}/(\d+)-")

APPLYING, APPLIED, UNDOING, UNDONE = PHASES = ("applying", "applied", "undoing", "undone")


@dataclass(frozen=True)
class Journal:
    """One rewind: what it moves, and how far it is."""

    name: str
    to_batch: int
    phase: str
    moves: Moves
    new_query_id: str | None
    stays: tuple[str, ...] = ()

    @property
    def is_interrupted(self) -> bool:
        return self.phase in (APPLYING, UNDOING)

    @property
    def new_metadata(self) -> str:
        return f"{BACKUPS}/{self.name}/metadata"

    def backup_of(self, path: str) -> str:
        return f"{BACKUPS}/{self.name}/files/{path}"


def journals(files: Files) -> list[Journal]:
    """Every rewind of this checkpoint that was not undone, oldest first."""
    paths: dict[str, str] = {}
    for entry in files.listing(BACKUPS):
        if match := JOURNAL_FILE.fullmatch(entry.path):
            # The draft counts only where the journal itself is missing.
            paths[match[1]] = min(entry.path, paths.get(match[1], entry.path), key=len)
    found = [_read(files, path) for _, path in sorted(paths.items())]
    return [journal for journal in found if journal and journal.phase != UNDONE]


def interrupted(files: Files) -> Journal | None:
    """The rewind or the undo that was cut short, if there is one."""
    return next((journal for journal in journals(files) if journal.is_interrupted), None)


def begin(rewind: Rewind, new_query_id: bool) -> Journal:
    """Note what is going to be done; nothing has moved yet."""
    files = rewind.checkpoint.files
    used = [int(match[1]) for entry in files.listing(BACKUPS) if (match := BACKUP_NUMBER.match(entry.path))]
    name = f"{max(used, default=0) + 1:04d}-to-batch-{rewind.to_batch}"
    new_id = str(uuid.uuid4()) if new_query_id else None
    journal = Journal(name, rewind.to_batch, APPLYING, rewind.moves(), new_id, rewind.stays)
    refuse_if_unmovable(files, journal)
    try:
        _write(files, journal)
    except OSError:
        files.remove_empty_folders(f"{BACKUPS}/{name}")
        raise
    return journal


def refuse_if_unmovable(files: Files, journal: Journal) -> None:
    """Refuse what could not be carried through, before anything moves."""
    paths = journal.moves.everything()
    folders = {parent for path in (*paths, *map(journal.backup_of, paths)) for parent in _parents(path)}
    reason = files.why_unmovable(folders)
    if reason:
        raise RefusalError(
            f"{files.root}: {reason}, so files cannot be moved; correct that and give the same command again."
        )


def wrong_result(files: Files, journal: Journal) -> str | None:
    """What keeps a restart from beginning with the batch that was asked for, if anything."""
    batch = journal.to_batch
    checkpoint = sort_files(files)
    stray = next(checkpoint.strays(batch), None)
    later = next((file for file in checkpoint.state if file.version > batch), None)
    left = stray or (later.entry if later else None)
    if left:
        return f"{left.path} is still there"
    if checkpoint.restart_batch != batch:
        return f"a restart would begin with {checkpoint.restart_batch}"
    try:
        return state_obstacle(checkpoint, batch) if batch else None
    except DamageError as damage:
        return f"batch {batch} starts from {damage}"


def finish(files: Files, journal: Journal) -> Journal:
    """Carry a rewind through from wherever it is."""
    ran = _job_ran_at_the_end(files, journal)
    if not ran:
        _refuse_if_job_ran(files, journal)
        _take_metadata_away(files, journal)
        _move_all(files, journal, journal.moves.body)
        if journal.to_batch == 0:
            for folder in ("state", "offsets", "commits"):
                files.remove_empty_folders(folder)
        _put_metadata_back(files, journal, journal.new_query_id)
    _close(files, journal, copy=ran)
    done = replace(journal, phase=APPLIED)
    _write(files, done)
    return done


def undo(files: Files, journal: Journal) -> None:
    """Put everything back from wherever the rewind, or an earlier undo, is."""
    _refuse_if_job_ran(files, journal)
    _refuse_if_batch_before_is_missing(files, journal)
    _refuse_if_backup_is_incomplete(files, journal)
    _write(files, replace(journal, phase=UNDOING))
    _restore_all(files, journal, reversed(journal.moves.closing))
    _take_metadata_away(files, journal)
    _restore_all(files, journal, reversed(journal.moves.body))
    _put_metadata_back(files, journal, None)
    _write(files, replace(journal, phase=UNDONE))
    for leftover in (journal.new_metadata, journal.new_metadata + DRAFT, f"{BACKUPS}/{journal.name}/{JOURNAL}"):
        if files.exists(leftover):
            files.remove(leftover)
    files.remove_empty_folders(BACKUPS)


def batches_since(files: Files, journal: Journal) -> list[int]:
    """The batches that are in the logs and should not be."""
    paths = [entry.path for log in ("offsets", "commits") for entry in files.listing(log)]
    found = {int(match[2]) for path in paths if path not in journal.stays and (match := BATCH.fullmatch(path))}
    return sorted(batch for batch in found if batch >= journal.to_batch)


def _parents(path: str) -> list[str]:
    """Every folder from the checkpoint itself down to where a file is."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _take_metadata_away(files: Files, journal: Journal) -> None:
    for path in journal.moves.metadata:
        there = journal.backup_of(path)
        if files.exists(there) and files.exists(path):
            # A new id was written, or a copying rename was cut short; what is in the backup is the original.
            files.remove(path)
        elif files.exists(path):
            files.move(path, there)
    _settle(files, journal, journal.moves.metadata)


def _put_metadata_back(files: Files, journal: Journal, new_query_id: str | None) -> None:
    if new_query_id:
        # By way of the backup's folder: a kill must not leave half of it beside Spark's files.
        files.write(journal.new_metadata, json.dumps({"id": new_query_id}, separators=(",", ":")).encode())
        files.move(journal.new_metadata, "metadata")
    else:
        _restore_all(files, journal, reversed(journal.moves.metadata))


def _move_all(files: Files, journal: Journal, paths: Iterable[str]) -> None:
    done = list(paths)
    for path in done:
        there = journal.backup_of(path)
        if files.exists(path):
            if files.exists(there):
                # Only a file system that renames by copying leaves both; they were compared before.
                files.remove(path)
            else:
                files.move(path, there)
    _settle(files, journal, done)


def _restore_all(files: Files, journal: Journal, paths: Iterable[str]) -> None:
    done = list(paths)
    for path in done:
        there = journal.backup_of(path)
        if files.exists(there):
            if files.exists(path):
                files.remove(there)
            else:
                files.move(there, path)
    _settle(files, journal, done)


def _close(files: Files, journal: Journal, copy: bool) -> None:
    if not copy:
        _move_all(files, journal, journal.moves.closing)
        return
    for path in journal.moves.closing:
        if files.exists(path) and not files.exists(journal.backup_of(path)):
            files.write(journal.backup_of(path), files.read(path))


def _settle(files: Files, journal: Journal, paths: Iterable[str]) -> None:
    listed = list(paths)
    files.settle([*listed, *map(journal.backup_of, listed)])


def _job_ran_at_the_end(files: Files, journal: Journal) -> bool:
    """Whether the rewind was cut short just before its last file, and the job has since run from there, rightly."""
    moved = all(files.exists(journal.backup_of(path)) for path in journal.moves.body)
    return moved and files.exists("metadata") and files.exists(f"commits/{journal.to_batch}")


def _refuse_if_job_ran(files: Files, journal: Journal) -> None:
    fresh = _written_since(files, journal)
    if fresh:
        raise RefusalError(
            f"{files.root}: the job has run since the rewind to batch {journal.to_batch} ({fresh} is newer than the "
            f"backup {journal.name}); to have the old batches back, stop the job, rewind it with `--to-batch "
            f"{journal.to_batch} --apply` once more, and then give `--undo --backup {journal.name}`."
        )


def _written_since(files: Files, journal: Journal) -> str | None:
    ours = {*journal.moves.everything(), *journal.stays}
    for path in (*journal.moves.body, *journal.moves.closing):
        there = journal.backup_of(path)
        if files.exists(path) and files.exists(there) and files.read(path) != files.read(there):
            return path
    for entry in files.listing(skip=BACKUPS):
        if entry.path not in ours and _is_of_later_batch(entry.path, journal.to_batch):
            return entry.path
    return None


def _is_of_later_batch(path: str, batch: int) -> bool:
    if match := BATCH.fullmatch(path):
        return int(match[2]) >= batch
    if match := STATE_FILE.fullmatch(path):
        return int(match["version"]) > batch
    return False


def _refuse_if_batch_before_is_missing(files: Files, journal: Journal) -> None:
    before = journal.to_batch - 1
    if before >= 0 and not files.exists(f"offsets/{before}"):
        raise RefusalError(
            f"{files.root}: batch {before}, which the backup {journal.name} continues from, is not there; "
            "undo the later rewinds first."
        )


def _refuse_if_backup_is_incomplete(files: Files, journal: Journal) -> None:
    present = {entry.path for entry in files.listing()}
    for path in journal.moves.everything():
        there = journal.backup_of(path)
        if path not in present and there not in present:
            raise RefusalError(
                f"{files.root}: {path} is neither in its place nor in the backup {journal.name}, so the rewind "
                "cannot be undone; restore that file from elsewhere, or go on from the rewound checkpoint."
            )
        if path.endswith(".zip") and there in present:
            _refuse_if_zip_lost_files(files, journal, path, present)


def _refuse_if_zip_lost_files(files: Files, journal: Journal, path: str, present: set[str]) -> None:
    """What the snapshot lacked already when it was put aside does not matter: it comes back as it was."""
    store = path.rpartition("/")[0]
    for name in files_of_zip(files.read(journal.backup_of(path))) or ():
        for place in (f"{store}/SSTs/{name}", f"{store}/logs/{name}"):
            if place in journal.stays and place not in present:
                raise RefusalError(
                    f"{files.root}: {path} needs {name}, which was there at the rewind and has been deleted since, so "
                    "the rewind cannot be undone; go on from the rewound checkpoint."
                )


def _write(files: Files, journal: Journal) -> None:
    files.write(f"{BACKUPS}/{journal.name}/{JOURNAL}", json.dumps(asdict(journal), indent=1).encode())


def _read(files: Files, path: str) -> Journal | None:
    found = json_or_none(files.read(path).decode(errors="replace"))
    if found is None and path.endswith(DRAFT):
        # Killed while writing it, that is before anything was moved.
        return None
    moves = part(found, "moves", dict)
    parts = [_paths(moves, name) for name in ("metadata", "body", "closing")]
    name, batch, phase = part(found, "name", str), part(found, "to_batch", int), part(found, "phase", str)
    stays = _paths({"stays": (), **found}, "stays") if isinstance(found, dict) else None
    if name != path.split("/")[1] or batch is None or phase not in PHASES or stays is None or None in parts:
        raise FailureError(
            f"{files.root}/{path} is damaged, so that neither the rewind nor its undoing can go on: move the files "
            "that lie beside it, in `files`, back to their places by hand, and then remove that folder."
        )
    metadata, body, closing = (paths or () for paths in parts)
    return Journal(name, batch, phase, Moves(metadata, body, closing), part(found, "new_query_id", str), stays)


def _paths(found: object, key: str) -> tuple[str, ...] | None:
    """A list of paths within the checkpoint; nothing when it is anything else."""
    paths = found.get(key) if isinstance(found, dict) else None
    if not isinstance(paths, list | tuple):
        return None
    if not all(isinstance(path, str) and path and not {"", "..", "."} & {*path.split("/")} for path in paths):
        return None
    return tuple(paths)
