"""The command `headgate rewind-checkpoint`."""

import argparse
import os
import sys
import time
from contextlib import nullcontext

from rich.console import Console

from headgate.rewind.apply import (
    APPLYING,
    Journal,
    batches_since,
    begin,
    finish,
    interrupted,
    journals,
    refuse_if_unmovable,
    undo,
    wrong_result,
)
from headgate.rewind.checkpoint import BACKUPS, Checkpoint, read_checkpoint
from headgate.rewind.delta import other_writers, refuse_if_skipped
from headgate.rewind.errors import FailureError, RefusalError
from headgate.rewind.files import Files, open_files
from headgate.rewind.lock import alone, refuse_if_at_work
from headgate.rewind.plan import Obstacle, Rewind, plan_rewind, resume_offsets
from headgate.rewind.report import show_plan
from headgate.rewind.retention import broker_offsets, lost_offsets
from headgate.rewind.running import sign_of_life

DONE, FAILED, REFUSED = 0, 1, 2

SINK_UNSEEN = (
    "A checkpoint does not say where its query writes to. A Delta table silently skips replayed batches: if that is "
    "the sink, give --table DIR."
)
RETENTION_UNSEEN = "Whether Kafka still has these offsets was not asked: give --kafka HOST:PORT."
NO_DATA = "Batch {batch} had no data of its own: a restarted job runs it when the next data arrives, not before."
FILE_SOURCE = "A file source keeps its own list of files: all that it listed since comes in one batch, batch {batch}."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command understands."""
    parser.description = (
        "Take a checkpoint back, so that a restarted job begins with batch N. Shows the plan only, unless told --apply."
    )
    parser.add_argument("checkpoint", metavar="DIR", help="checkpointLocation of the query: a path or a URI")
    parser.add_argument("--to-batch", type=int, metavar="N", help="the batch that a restart shall begin with")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--apply", action="store_true", help="do it; what goes is moved to a backup in the checkpoint")
    what.add_argument("--undo", action="store_true", help="put back what the last rewind moved")
    parser.add_argument("--verbose", action="store_true", help="show each partition on a line of its own")
    parser.add_argument("--backup", metavar="NAME", help="with --undo: this rewind instead of the last one")
    parser.add_argument("--prune", action="store_true", help="also move RocksDB files that nothing refers to any more")
    parser.add_argument("--kafka", metavar="HOST:PORT", help="ask this broker whether it still has what is replayed")
    parser.add_argument(
        "--kafka-option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting of the Kafka client, such as security.protocol=SSL; may be repeated",
    )
    parser.add_argument("--table", metavar="DIR", help="the Delta table that the query writes to")
    parser.add_argument(
        "--new-query-id",
        action="store_true",
        help="give the query a new id, so that a Delta table that was restored takes the replayed batches",
    )
    parser.add_argument(
        "--job-is-stopped",
        action="store_true",
        help="you know that the application that ran this query has ended: do not check",
    )


def run(options: argparse.Namespace) -> int:
    """Do what was asked: 0 when done or shown, 2 when refused, 1 when something failed."""
    try:
        _run(options, open_files(options.checkpoint))
    except RefusalError as refusal:
        return _say(str(refusal), REFUSED)
    except FailureError as failure:
        return _say(str(failure), FAILED)
    except OSError as error:
        return _say(f"{options.checkpoint}: {error}; correct that and run the same command again.", FAILED)
    return DONE


class Paper(Console):
    """A console whose reader may leave early, as `head` does: what was asked for is done all the same."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def _run(options: argparse.Namespace, files: Files) -> None:
    _refuse_nonsense(options)
    if not any(files.exists(folder) for folder in ("offsets", "commits", BACKUPS)):
        # It says what is missing, and a lock is not put into a folder that is something else.
        read_checkpoint(files)
    console = Paper()
    with alone(files) if options.apply or options.undo else nullcontext():
        if options.undo:
            _undo(options, files, console)
        else:
            _rewind(options, files, console)


def _refuse_nonsense(options: argparse.Namespace) -> None:
    if options.undo and options.to_batch is not None:
        raise RefusalError("--undo puts the last rewind back: leave --to-batch out.")
    if not options.undo and options.to_batch is None:
        raise RefusalError("Which batch shall a restart begin with? Give --to-batch N, or --undo.")
    if options.backup and not options.undo:
        raise RefusalError("--backup says what to undo: give it together with --undo.")


def _rewind(options: argparse.Namespace, files: Files, console: Console) -> None:
    unfinished = interrupted(files)
    if unfinished:
        _continue(options, files, unfinished, console)
        return
    finished = _finished(options, files)
    if finished:
        _tell(finished, console)
        return
    checkpoint = read_checkpoint(files)
    rewind = plan_rewind(checkpoint, options.to_batch, options.prune, _retention(options, checkpoint))
    notes = _sink_notes(options, checkpoint) + _source_notes(options, rewind)
    show_plan(console, rewind, notes, options.verbose)
    if options.apply:
        _check_stopped(options, files)
        _finish(files, begin(rewind, options.new_query_id), console)
    else:
        console.print("Nothing has been changed. Add --apply to do it.")


def _finished(options: argparse.Namespace, files: Files) -> Journal | None:
    """The rewind that is asked for, when it was killed at its very end and is given again, as its reader was told."""
    last = journals(files)[-1:] if options.apply else []
    same = [
        journal
        for journal in last
        if journal.to_batch == options.to_batch and bool(journal.new_query_id) == options.new_query_id
    ]
    return same[0] if same and not wrong_result(files, same[0]) else None


def _undo(options: argparse.Namespace, files: Files, console: Console) -> None:
    known = journals(files)
    chosen = [journal for journal in known if options.backup in (None, journal.name)]
    unfinished = interrupted(files)
    if not chosen:
        names = ", ".join(journal.name for journal in known) or "none"
        raise RefusalError(f"{files.root}: there is no such rewind to undo; those with a backup: {names}.")
    journal = chosen[-1]
    if unfinished and unfinished != journal:
        raise RefusalError(f"{files.root}: {_cut_short(unfinished)}; do that before anything else.")
    _check_stopped(options, files)
    refuse_if_unmovable(files, journal)
    try:
        undo(files, journal)
    except OSError as error:
        again = f"`--undo --backup {journal.name}`"
        raise FailureError(
            f"{files.root}: the undoing was cut short ({error}); correct that and finish it with {again}."
        ) from None
    console.print(f"The rewind to batch {journal.to_batch} is undone: the checkpoint is as it was before.")


def _continue(options: argparse.Namespace, files: Files, journal: Journal, console: Console) -> None:
    if not (options.apply and journal.phase == APPLYING and journal.to_batch == options.to_batch):
        if not options.apply:
            refuse_if_at_work(files)
        raise RefusalError(f"{files.root}: {_cut_short(journal)}; do that before anything else.")
    _check_stopped(options, files)
    refuse_if_unmovable(files, journal)
    console.print(f"Finishing the rewind to batch {journal.to_batch} that was cut short.")
    _finish(files, journal, console)


def _cut_short(journal: Journal) -> str:
    if journal.phase == APPLYING:
        return (
            f"a rewind to batch {journal.to_batch} was cut short; finish it with `--to-batch {journal.to_batch} "
            "--apply` or take it back with `--undo`"
        )
    return f"undoing the rewind {journal.name} was cut short; finish it with `--undo --backup {journal.name}`"


def _finish(files: Files, journal: Journal, console: Console) -> None:
    try:
        finish(files, journal)
    except OSError as error:
        raise FailureError(f"{files.root}: {error}; {_cut_short(journal)}.") from None
    appeared = batches_since(files, journal)
    if appeared:
        raise FailureError(
            f"{files.root}: the rewind to batch {journal.to_batch} is done, but batch {appeared[0]} has been written "
            "since it began: a job runs or ran on this checkpoint; stop it, then look with `--to-batch "
            f"{journal.to_batch}` what there is to rewind."
        )
    wrong = wrong_result(files, journal)
    if wrong:
        raise FailureError(
            f"{files.root}: all has been moved for batch {journal.to_batch}, but {wrong}, so a restart would not work; "
            "take it back with `--undo`."
        )
    _tell(journal, console)


def _tell(journal: Journal, console: Console) -> None:
    console.print(f"Done: a restart begins with batch {journal.to_batch}. What went is kept as {journal.name}; --undo.")
    if journal.new_query_id:
        console.print(f"The query's id is now {journal.new_query_id}.")


def _check_stopped(options: argparse.Namespace, files: Files) -> None:
    sign = None if options.job_is_stopped else sign_of_life(files, time.time())
    if sign:
        raise RefusalError(
            f"{files.root}: a query may still be running on it ({sign}); stop it and wait, or give "
            "--job-is-stopped if you know that it is."
        )


def _retention(options: argparse.Namespace, checkpoint: Checkpoint) -> Obstacle:
    if not options.kafka:
        return lambda _: None
    settings = dict(_setting(text) for text in options.kafka_option)
    kept = broker_offsets(options.kafka, settings)
    return lambda batch: lost_offsets(resume_offsets(checkpoint, batch).kafka, kept)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise RefusalError(f"--kafka-option {text} is not KEY=VALUE; write for example security.protocol=SSL.")
    return key, value


def _sink_notes(options: argparse.Namespace, checkpoint: Checkpoint) -> list[str]:
    if not options.table:
        return [SINK_UNSEEN]
    table = open_files(options.table)
    if not options.new_query_id:
        refuse_if_skipped(checkpoint.files.root, checkpoint.query_id, options.to_batch, table)
    others = other_writers(checkpoint.query_id, table)
    return [
        f"The table also has batches up to {batch} of {name}: if this job writes under that txnAppId, they are skipped."
        for name, batch in others.items()
    ]


def _source_notes(options: argparse.Namespace, rewind: Rewind) -> list[str]:
    notes = []
    if rewind.begins_without_data:
        notes.append(NO_DATA.format(batch=rewind.to_batch))
    if rewind.resume.kafka and not options.kafka:
        notes.append(RETENTION_UNSEEN)
    if any(isinstance(offset, dict) and "logOffset" in offset for offset in rewind.resume.by_source.values()):
        notes.append(FILE_SOURCE.format(batch=rewind.to_batch))
    return notes


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code
