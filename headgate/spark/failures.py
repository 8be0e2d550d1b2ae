"""Finds, in the long text that Spark makes of an error, the one cause that a person can act on."""

import re
from dataclasses import dataclass

# These only say that something else went wrong.
WRAPPERS = {"STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR", "TASK_WRITE_FAILED"}
# Java prints this one without the name that Spark has for it.
SPARK_NAMES = {"KafkaIllegalStateException": "KAFKA_DATA_LOSS"}
ADVICE = {
    "KAFKA_DATA_LOSS": "Kafka no longer has records that the checkpoint needs: --allow-data-loss goes on without them.",
    "UnknownTopicOrPartitionException": "The topic was deleted while the job ran.",
    "TimeoutException": "Kafka did not answer in time; the job goes on from its checkpoint when it is started again.",
}

BLOCK = re.compile(r"^Caused by: ", re.MULTILINE)
JAVA_FRAMES = re.compile(r"^\s+at .*|^\s+\.\.\. \d+ more$|^Driver stacktrace:|^=== Streaming Query ===", re.MULTILINE)
PYTHON_TRACE = "Traceback (most recent call last):"
PYTHON_FRAMES = re.compile(r"^  .*\n", re.MULTILINE)
ERROR_LINE = re.compile(r"^(?:: )?(?P<type>[A-Za-z_][\w.$]*)(?:: (?P<message>.*))?\Z", re.MULTILINE | re.DOTALL)
SPARK_NAME = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)*)\] ")
SQL_STATE = re.compile(r"\s*SQLSTATE: \w{5}\b.*", re.DOTALL)
REASON = re.compile(r"Reason: (.*?)(?: with consumer group.*)?$")


@dataclass(frozen=True)
class Cause:
    """One link in a chain of errors: Spark's name for it, or else its type, and what it says."""

    name: str
    message: str
    is_named: bool


def innermost_cause(trace: str) -> Cause:
    """The deepest error that Spark has a name for, with what is below it; or else the deepest."""
    causes = [_cause(block) for block in BLOCK.split(trace)]
    deepest = causes[-1]
    named = next((cause for cause in reversed(causes) if cause.is_named), deepest)
    return Cause(named.name, _explained(named, deepest), named.is_named)


def _explained(named: Cause, deepest: Cause) -> str:
    advice = ADVICE.get(named.name.partition(".")[0]) or ADVICE.get(deepest.name)
    if advice:
        return f"{named.message.rstrip('.')}. {advice}"
    if deepest.message in named.message:
        return named.message
    return f"{named.message} ({deepest.name}: {deepest.message})"


def _cause(block: str) -> Cause:
    head = JAVA_FRAMES.split(block, maxsplit=1)[0].strip()
    kind, message = _last_error(head)
    names = list(SPARK_NAME.finditer(message))
    if names:
        kind, message = names[-1]["name"], message[names[-1].end() :]
    kind = SPARK_NAMES.get(kind, kind)
    return Cause(kind, _one_line(message), is_named=kind.isupper() and kind not in WRAPPERS)


def _last_error(head: str) -> tuple[str, str]:
    """The type and text of the error; of a Python traceback, those at its end, where Java's come last."""
    if PYTHON_TRACE in head:
        head = PYTHON_FRAMES.split(head)[-1]
        head = head[head.find("\n: ") + 1 :]
    found = ERROR_LINE.search(head)
    if found is None:
        return "Error", head
    return found["type"].rpartition(".")[2], found["message"] or ""


def _one_line(message: str) -> str:
    flat = " ".join(SQL_STATE.sub("", message).split())
    reason = REASON.search(flat)
    return reason[1] if reason else flat
