"""Shows a rewind to the person who has to decide on it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headgate.rewind.checkpoint import StateFile, as_kafka
from headgate.rewind.files import Entry
from headgate.rewind.plan import Rewind

UNIT = 1024.0


def show_plan(console: Console, rewind: Rewind, notes: Sequence[str], verbose: bool) -> None:
    """What goes, where the job will resume, and what it will write again; partitions together unless verbose."""
    root, query = plain(rewind.checkpoint.files.root), plain(rewind.checkpoint.query_id)
    console.print(f"[bold]Rewind of {root} to batch {rewind.to_batch}[/bold] (query {query})")
    console.print(_what_goes(rewind, verbose))
    for operator in sorted({file.store.operator for file in rewind.state}):
        console.print(f"State operator {operator} is {plain(rewind.checkpoint.operator_name(operator)) or 'unnamed'}.")
    console.print(_where_it_resumes(rewind, verbose))
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
        console.print(f"[yellow]Note:[/yellow] {plain(note)}")


def plain(text: str) -> str:
    """A text from a damaged file or an odd path, fit to be printed: no markup, no half characters."""
    return escape(text.encode(errors="replace").decode())


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


def _what_goes(rewind: Rewind, verbose: bool) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("what goes", "operator", "store", "partition", "versions", "files", "size"):
        table.add_column(heading, overflow="fold", min_width=20 if heading == "what goes" else None)
    _log_row(table, "offsets", rewind.offsets)
    _log_row(table, "commits", rewind.commits)
    if rewind.strays:
        table.add_row("other files in the logs", "", "", "", "", str(len(rewind.strays)), size_of(rewind.strays))
    for (operator, store, _), files in _together(rewind.state, verbose).items():
        table.add_row(
            f"state {'/'.join(sorted({file.kind for file in files}))}",
            str(operator),
            plain(store),
            spans(file.store.partition for file in files),
            spans(file.version for file in files),
            str(len(files)),
            size_of(file.entry for file in files),
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


def _together(files: Iterable[StateFile], verbose: bool) -> dict[tuple[int, str, int], list[StateFile]]:
    """The files that a line tells of: those of a store in all partitions, or in each."""
    found: dict[tuple[int, str, int], list[StateFile]] = {}
    for file in files:
        key = (file.store.operator, file.store.name, file.store.partition if verbose else 0)
        found.setdefault(key, []).append(file)
    return dict(sorted(found.items()))


def _where_it_resumes(rewind: Rewind, verbose: bool) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("resumes from", "partition", "at"):
        table.add_column(heading, overflow="fold")
    table.add_row("watermark", "", _watermark(rewind.watermark_ms))
    for source, offset in rewind.resume.by_source.items():
        kafka = as_kafka(offset)
        for topic, partitions in (kafka or {}).items():
            name = f"source {plain(source)}: Kafka {plain(topic)}"
            for numbers, offsets in _kafka_rows(partitions, verbose):
                table.add_row(name, numbers, offsets)
        if not kafka:
            table.add_row(f"source {plain(source)}", "", plain(str(offset)))
    if not rewind.resume.by_source:
        table.add_row("sources", "", "their very beginning, as the job's options say")
    return table


def _kafka_rows(partitions: Mapping[int, int], verbose: bool) -> list[tuple[str, str]]:
    if verbose or len(partitions) == 1:
        return [(str(partition), f"offset {number}") for partition, number in sorted(partitions.items())]
    if not partitions:
        return []
    return [(spans(partitions), f"offsets {min(partitions.values())} to {max(partitions.values())}")]


def _watermark(milliseconds: int) -> str:
    if milliseconds <= 0:
        return "none yet"
    try:
        when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms after 1970, which is no date: was a time in other units taken for milliseconds?"
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"
