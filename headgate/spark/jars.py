"""Fetches the jars of ivy.xml once, into the user's cache, with the Ivy that ships inside PySpark.

`python -m headgate.spark.jars` prints Spark's jars, ready for `spark-submit --jars`.
"""

import fcntl
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from rich.console import Console

from headgate.errors import SandboxError
from headgate.spark.java import find_java

KAFKA_VERSION = "4.3.1"
BROKER_LOG4J_VERSION = "2.25.4"
SCALA_VERSION = "2.13"
TOKEN_PROVIDER = f"spark-token-provider-kafka-0-10_{SCALA_VERSION}"
IVY_FILE = Path(__file__).with_name("ivy.xml")
MANIFEST = "complete.json"


@dataclass(frozen=True)
class Jars:
    """The jars of each part, as they lie in the cache."""

    spark: tuple[Path, ...]
    broker: tuple[Path, ...]


@dataclass(frozen=True)
class Versions:
    """What decides which jars are fetched."""

    spark: str
    delta: str
    kafka: str = KAFKA_VERSION

    @property
    def spark_minor(self) -> str:
        return ".".join(self.spark.split(".")[:2])

    @property
    def delta_artifact(self) -> str:
        """Since 4.1, Delta Lake has a jar for each minor version of Spark."""
        is_for_one_spark = tuple(map(int, self.delta.split(".")[:2])) < (4, 1)
        return f"delta-spark_{SCALA_VERSION}" if is_for_one_spark else f"delta-spark_{self.spark_minor}_{SCALA_VERSION}"

    @property
    def folder(self) -> str:
        asked_for = hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:8]
        return f"spark-{self.spark}-delta-{self.delta}-kafka-{self.kafka}-{asked_for}"


def installed_versions() -> Versions:
    """The versions that fit the installed pyspark and delta-spark."""
    return Versions(spark=pyspark.__version__, delta=importlib.metadata.version("delta-spark"))


def cache_dir() -> Path:
    """Where fetched jars are kept: HEADGATE_HOME, or the user's cache."""
    home = os.environ.get("HEADGATE_HOME")
    if home:
        return Path(home) / "jars"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headgate" / "jars"


def fetched_jars(console: Console | None = None) -> Jars:
    """All jars, from the cache; fetched first where the cache lacks them or is damaged."""
    console = console or Console(stderr=True)
    versions = installed_versions()
    folder = cache_dir() / versions.folder
    if not _is_complete(folder):
        with _only_one_fetches(folder):
            if not _is_complete(folder):
                _fetch(versions, folder, console)
    return Jars(spark=_jars_in(folder / "spark"), broker=_jars_in(folder / "broker"))


def _jars_in(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("*.jar")))


def _is_complete(folder: Path) -> bool:
    """A folder counts once its manifest, written last, names just the files that are there."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return False
    return bool(sizes) and sizes == _sizes(folder)


def _sizes(folder: Path) -> dict[str, int]:
    return {str(jar.relative_to(folder)): jar.stat().st_size for jar in sorted(folder.glob("*/*.jar"))}


@contextmanager
def _only_one_fetches(folder: Path) -> Iterator[None]:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = (folder.parent / f".{folder.name}.lock").open("w")
    except OSError as error:
        raise SandboxError(
            f"The jars cannot be kept in {folder.parent} ({error.strerror}): "
            "set HEADGATE_HOME to a folder you can write."
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(versions: Versions, folder: Path, console: Console) -> None:
    if folder.exists():
        console.print(f"The jars in {folder} are incomplete: fetching them again.", highlight=False, soft_wrap=True)
    started = time.monotonic()
    console.print(
        "Fetching the jars of Spark's Kafka source, Delta Lake and Kafka: once, then kept.",
        highlight=False,
        soft_wrap=True,
    )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as made:
        fresh = Path(made) / folder.name
        token = _token_provider_version(versions, folder.parent, console)
        _ivy(versions, token, folder.parent, console, retrieve_into=fresh)
        (fresh / MANIFEST).write_text(json.dumps(_sizes(fresh), indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    shutil.rmtree(folder.parent / "ivy", ignore_errors=True)
    count = len(_sizes(folder))
    console.print(
        f"Fetched {count} jars in {time.monotonic() - started:.0f} s into {folder}.", highlight=False, soft_wrap=True
    )


def _token_provider_version(versions: Versions, cache: Path, console: Console) -> str:
    """Spark's own version where the registry has it, else the newest release before it."""
    found = _newest_token_provider(versions.spark, cache, console)
    wanted = f"(,{versions.spark}["
    while found is None or "-" in found:  # a preview is no release
        found = _newest_token_provider(wanted, cache, console)
        if found is None:
            raise SandboxError(f"The registry has no release of {TOKEN_PROVIDER} up to {versions.spark}. {_WAY_OUT}")
        wanted = f"(,{found}["
    if found != versions.spark:
        console.print(
            f"{TOKEN_PROVIDER} {versions.spark} is not in the registry: using {found}, the newest release before it.",
            highlight=False,
            soft_wrap=True,
        )
    return found


def _newest_token_provider(wanted: str, cache: Path, console: Console) -> str | None:
    question = (
        '<ivy-module version="2.0"><info organisation="headgate" module="question"/>'
        '<configurations><conf name="spark"/></configurations><dependencies>'
        f'<dependency org="org.apache.spark" name="{TOKEN_PROVIDER}" rev="{wanted}" conf="spark->master"/>'
        "</dependencies></ivy-module>"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(question)
        file.flush()
        run = _run_ivy(["-ivy", file.name, "-confs", "spark"], {}, cache, console)
    found = re.search(rf"found org\.apache\.spark#{re.escape(TOKEN_PROVIDER)};(\S+) in", run.said)
    if found is None and not run.registry_answered:
        raise SandboxError(f"No registry answers, and the jars are not here yet. {_WAY_OUT}")
    return found.group(1) if found else None


def _ivy(versions: Versions, token: str, cache: Path, console: Console, retrieve_into: Path) -> None:
    properties = {
        "spark.version": versions.spark,
        "delta.artifact": versions.delta_artifact,
        "scala.version": SCALA_VERSION,
        "delta.version": versions.delta,
        "kafka.version": versions.kafka,
        "log4j.version": BROKER_LOG4J_VERSION,
        "token.version": token,
    }
    pattern = f"{retrieve_into}/[conf]/[artifact]-[revision].[ext]"
    arguments = ["-ivy", str(IVY_FILE), "-confs", "spark", "broker", "-retrieve", pattern]
    run = _run_ivy(arguments, properties, cache, console)
    if not run.succeeded:
        missing = sorted(set(re.findall(r":: (\S+#\S+;\S+?): not found", run.said)))
        if missing:
            raise SandboxError(f"The registry lacks {', '.join(missing)}. {_WAY_OUT}")
        raise SandboxError(f"The jars could not be fetched: the connection broke. Run the command again; {_WAY_OUT}")


_WAY_OUT = (
    "Connect to the network for the first start, name your own mirror's Ivy settings in HEADGATE_IVY_SETTINGS, "
    "or copy the cache of a machine that has it and point HEADGATE_HOME there."
)


@dataclass(frozen=True)
class IvyRun:
    """How one run of Ivy ended, and what it said."""

    said: str
    succeeded: bool

    @property
    def registry_answered(self) -> bool:
        return not re.search(
            r"UnknownHost|ConnectException|timed out|Host .* not found|SSLHandshake|NoRoute", self.said
        )


def _run_ivy(arguments: list[str], properties: dict[str, str], cache: Path, console: Console) -> IvyRun:
    ivy_jars = sorted((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    if not ivy_jars:
        raise SandboxError("The installed pyspark ships no Ivy. Install the pinned pyspark from constraints.txt.")
    settings = os.environ.get("HEADGATE_IVY_SETTINGS")
    command = [str(find_java()), *(f"-D{key}={value}" for key, value in properties.items())]
    command += ["-jar", str(ivy_jars[-1]), "-cache", str(cache / "ivy"), *arguments]
    command += ["-settings", settings] if settings else []
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ.copy()
        ) as ivy,
        console.status("Asking the registry …") as status,
    ):
        said = []
        fetched = 0
        for line in ivy.stdout or ():
            said.append(line)
            if line.startswith("downloading "):
                fetched += 1
                name = line.rsplit("/", 1)[-1].split()[0]
                status.update(f"Fetching jar {fetched}: {name}")
    return IvyRun(said="".join(said), succeeded=ivy.returncode == 0)


def packages() -> str:
    """The coordinates of the same jars, for `spark-submit --packages` where a registry holds them all."""
    versions = installed_versions()
    return ",".join(
        [
            f"org.apache.spark:spark-sql-kafka-0-10_{SCALA_VERSION}:{versions.spark}",
            f"io.delta:{versions.delta_artifact}:{versions.delta}",
        ]
    )


def main() -> int:
    """Print the jars, or with --packages the coordinates, as spark-submit takes them."""
    try:
        print(packages() if "--packages" in sys.argv[1:] else ",".join(map(str, fetched_jars().spark)))
    except SandboxError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
