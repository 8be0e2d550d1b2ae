"""Shows a rewind to the person who has to decide on it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headgate.rewind.checkpoint import StateFile, Store, as_kafka
from headgate.rewind.files import Entry
from headgate.rewind.plan import Rewind

UNIT = 1024.0


def show_plan(console: Console, rewind: Rewind, notes: Sequence[str]) -> None:
    """What goes, where the job will resume, and what it will write again."""
    root = escape(rewind.checkpoint.files.root)
    console.print(f"[bold]Rewind of {root} to batch {rewind.to_batch}[/bold] (query {rewind.checkpoint.query_id})")
    console.print(_what_goes(rewind))
    for operator in sorted({file.store.operator for file in rewind.state}):
        console.print(f"State operator {operator} is {rewind.checkpoint.operator_name(operator) or 'unnamed'}.")
    console.print(_where_it_resumes(rewind))
    replayed = rewind.replayed
    batches = f"batch {replayed[0]}" if len(replayed) == 1 else f"batches {replayed[0]} to {replayed[-1]}"
    console.print(
        f"Written again: the output of {batches}. Batches may be cut differently this time, as the job now finds all "
        "of that data waiting."
    )
    if rewind.unreferenced and not rewind.prune:
        unreferenced = size_of(file.entry for file in rewind.unreferenced)
        console.print(
            f"{len(rewind.unreferenced)} SST files ({unreferenced}) are then referred to by no state version that is "
            "left. They stay unless --prune is given."
        )
    for note in notes:
        console.print(f"[yellow]Note:[/yellow] {escape(note)}")


def size_of(entries: Iterable[Entry]) -> str:
    """The sum of the files' sizes in words."""
    size = float(sum(entry.size for entry in entries))
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < UNIT:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= UNIT
    return f"{size:.1f} TiB"


def spans(numbers: Iterable[int]) -> str:
    """Numbers as spans: 1-3, 7."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def _what_goes(rewind: Rewind) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("what goes", "operator", "store", "partition", "versions", "files", "size"):
        table.add_column(heading, overflow="fold")
    _log_row(table, "offsets", rewind.offsets)
    _log_row(table, "commits", rewind.commits)
    for store, files in _by_store(rewind.state).items():
        entries = [file.entry for file in files]
        kinds = "/".join(sorted({file.kind for file in files}))
        versions = spans(file.version for file in files)
        table.add_row(
            f"state {kinds}",
            str(store.operator),
            store.name,
            str(store.partition),
            versions,
            str(len(files)),
            size_of(entries),
        )
    if rewind.other_state:
        what = "schemas of later batches" if rewind.to_batch else "all else in state"
        table.add_row(what, "", "", "", "", str(len(rewind.other_state)), size_of(rewind.other_state))
    if rewind.prune and rewind.unreferenced:
        entries = [file.entry for file in rewind.unreferenced]
        table.add_row("SST files, unreferenced", "", "", "", "", str(len(entries)), size_of(entries))
    return table


def _log_row(table: Table, name: str, entries: Sequence[Entry]) -> None:
    batches = spans(int(entry.path.rpartition("/")[2]) for entry in entries)
    table.add_row(name, "", "", "", batches, str(len(entries)), size_of(entries))


def _by_store(files: Iterable[StateFile]) -> dict[Store, list[StateFile]]:
    stores: dict[Store, list[StateFile]] = {}
    for file in files:
        stores.setdefault(file.store, []).append(file)
    return dict(sorted(stores.items()))


def _where_it_resumes(rewind: Rewind) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("resumes from", "partition", "at"):
        table.add_column(heading, overflow="fold")
    table.add_row("watermark", "", _watermark(rewind.watermark_ms))
    for source, offset in rewind.resume.by_source.items():
        kafka = as_kafka(offset)
        for topic, partitions in (kafka or {}).items():
            for partition, number in sorted(partitions.items()):
                table.add_row(f"source {source}: Kafka {escape(topic)}", str(partition), f"offset {number}")
        if not kafka:
            table.add_row(f"source {source}", "", escape(str(offset)))
    if not rewind.resume.by_source:
        table.add_row("sources", "", "their very beginning, as the job's options say")
    return table


def _watermark(milliseconds: int) -> str:
    if milliseconds <= 0:
        return "none yet"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"
