"""Sentences about checkpoints: what they hold, and taking them back."""

import json
import re
import shutil
from pathlib import Path

from headgate.compare.checks import check_equal, fail
from headgate.errors import FeatureMistake
from headgate.stage.stage import Stage

from .sentences import given, then, when

BACKUP = "."
"""Backups are hidden folders: no part of the checkpoint."""


@then("the checkpoint of the {job} holds:")
def checkpoint_holds(stage: Stage, job: str, docstring: str) -> None:
    """Every file of the document's tree, a path a line; `*` stands for what differs from run to run."""
    stage.settle()
    folder = stage.query(job).checkpoint()
    shown = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if _counts(file))
    patterns = docstring.split()
    rest = [path for path in shown if not any(_matches(path, pattern) for pattern in patterns)]
    absent = [pattern for pattern in patterns if not any(_matches(path, pattern) for path in shown)]
    if rest or absent:
        fail(stage, f"the checkpoint of the {job} lacks {absent or 'nothing'} and also has {rest or 'nothing'}")


@then("the offsets of batch {number:d} of the {job} are:")
def offsets_are(stage: Stage, number: int, job: str, docstring: str) -> None:
    """The last line of the checkpoint's offset file: topic, partition, offset."""
    shown = json.loads(stage.without_suffix(_offsets(stage, job, number)[2]))
    if shown != json.loads(docstring):
        fail(stage, f"the offsets of batch {number} are {json.dumps(shown)}")


@then('the offsets of batch {number:d} of the {job} have version "{version}"')
def offsets_have_version(stage: Stage, number: int, job: str, version: str) -> None:
    """The first line of the checkpoint's offset file."""
    shown = _offsets(stage, job, number)[0]
    if shown != version:
        fail(stage, f"the offsets of batch {number} begin with {shown}, and the feature says {version}")


@then("the offsets of batch {number:d} of the {job} carry these settings:")
def offsets_carry(stage: Stage, number: int, job: str) -> None:
    """What the checkpoint's offset file says besides the offsets."""
    about = json.loads(_offsets(stage, job, number)[1])
    settings = {**about["conf"], "batchWatermarkMs": str(about["batchWatermarkMs"])}
    for row in stage.grid():
        if settings.get(row["setting"].text) != row["value"].text:
            fail(stage, f"{row['setting'].text} is {settings.get(row['setting'].text)}")


@when("the checkpoint of the {job} is rewound to batch {number:d}")
def checkpoint_is_rewound(stage: Stage, job: str, number: int) -> None:
    """Runs rewind-checkpoint with --apply: a restart then begins with that batch."""
    rewind(stage, job, ["--to-batch", str(number), "--apply"])


@when('the checkpoint of the {job} is rewound to batch {number:d}, with its table "{table}"')
def checkpoint_is_rewound_with_table(stage: Stage, job: str, number: int, table: str) -> None:
    """The same with --table: Delta Lake skips batches that it has already written."""
    rewind(stage, job, ["--to-batch", str(number), "--apply", "--table", str(stage.table_path(table))])


@when("a rewind of the {job} to batch {number:d} is planned")
def rewind_is_planned(stage: Stage, job: str, number: int) -> None:
    """Runs rewind-checkpoint without --apply: it only shows what it would do."""
    rewind(stage, job, ["--to-batch", str(number)])


@when("the rewind of the {job} is undone")
def rewind_is_undone(stage: Stage, job: str) -> None:
    """Runs rewind-checkpoint with --undo."""
    rewind(stage, job, ["--undo"])


@given("the checkpoint of the {job} is remembered")
def checkpoint_is_remembered(stage: Stage, job: str) -> None:
    """Keeps every file of the checkpoint, to compare with later."""
    stage.settle()
    stage.remembered[f"files of {job}"] = _files(stage, job)


@then("the checkpoint of the {job} is as remembered")
def checkpoint_is_as_remembered(stage: Stage, job: str) -> None:
    """The checkpoint has the same files, byte for byte."""
    before, now = stage.remembered[f"files of {job}"], _files(stage, job)
    assert isinstance(before, dict)
    changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    if changed:
        fail(stage, f"the checkpoint of the {job} has changed in {changed}")


def _files(stage: Stage, job: str) -> dict[str, bytes]:
    folder = stage.query(job).checkpoint()
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not str(file.relative_to(folder)).startswith(BACKUP)
    }


def rewind(stage: Stage, job: str, words: list[str]) -> None:
    """Run rewind-checkpoint on the job's checkpoint."""
    query = stage.query(job)
    # The tool would wait for half a minute of silence; the scenario knows better whether it has stopped the job.
    known = ["--job-is-stopped"] if query.staged.program is None else []
    stage.run_tool("rewind-checkpoint", [str(query.checkpoint()), *words, "--kafka", stage.kafka, *known])


@given("the state of the {job} is remembered")
def state_is_remembered(stage: Stage, job: str) -> None:
    """Keeps what the job's state holds now, to compare with later."""
    stage.settle()
    stage.remembered[job] = _state(stage, job)


@then("the state of the {job} is as remembered")
def state_is_as_remembered(stage: Stage, job: str) -> None:
    """The state, read back from the checkpoint, is what it was."""
    stage.settle()
    if job not in stage.remembered:
        raise FeatureMistake(f"say 'the state of the {job} is remembered' before")
    check_equal(stage, _state(stage, job), stage.remembered[job], f"the state of the {job}")


def _state(stage: Stage, job: str):  # type: ignore[no-untyped-def]
    # Spark 4.2 may write into a checkpoint that it reads: it gets a copy.
    copy = stage.folder / f"copy-of-{job.replace(' ', '-')}"
    shutil.rmtree(copy, ignore_errors=True)
    # Spark's maintenance may be writing a snapshot meanwhile, under a name that is gone a moment later.
    unfinished = shutil.ignore_patterns("*.tmp", "*.tmp.crc")
    shutil.copytree(stage.query(job).checkpoint(), copy, ignore=unfinished)
    return stage.world.spark.read.format("statestore").load(str(copy)).toArrow()


def _offsets(stage: Stage, job: str, number: int) -> list[str]:
    stage.settle()
    file = stage.query(job).checkpoint() / "offsets" / str(number)
    if not file.is_file():
        fail(stage, f"the checkpoint of the {job} has no offsets of batch {number}")
    return file.read_text().splitlines()


def _counts(file: Path) -> bool:
    return file.is_file() and not file.name.endswith(".crc")


def _matches(path: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), path) is not None
