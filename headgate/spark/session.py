"""Makes the Spark session of a job."""

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from headgate.errors import SandboxError
from headgate.spark.jars import fetched_jars
from headgate.spark.java import find_java
from headgate.spark.package import write_zip

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
# A query whose batch does not heed being interrupted must not keep a job from ending.
BOUNDED = {"spark.sql.streaming.stopTimeout": "30s"}
OURSELVES = Path(__file__).parents[1]
LINES_KEPT = 50
NOISE = re.compile(r"^at |\bWARN(ING)?\b|default log4j profile")
IN_THIS_PROCESS = re.compile(r"local(\[.*)?")
ON_THIS_MACHINE = re.compile(r"local\b.*|spark://(localhost|127(\.\d+){3}):\d+")


def is_submitted() -> bool:
    """Whether spark-submit started this program: master, jars and files are its affair then."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def spark_session(
    name: str,
    master: str,
    conf: Mapping[str, str],
    *,
    verbose: bool = False,
    mask: Callable[[str], str] = str,
    ship: Path | None = None,
) -> SparkSession:
    """A session with Kafka and Delta Lake on board; `conf` wins over what is set here.

    `ship` is a package that executors on other machines need. What Java and Spark's Python workers write is shown,
    masked, if `verbose`.
    """
    settings = {"spark.app.name": name, **DELTA, **QUIET, **BOUNDED}
    if not is_submitted():
        find_java()
        if ON_THIS_MACHINE.fullmatch(master):
            # Not for a cluster elsewhere: it has its own Python, and could not reach a driver on loopback.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.master": master, **_jar_settings(master)}
    settings |= conf
    if not is_submitted() and SparkContext._gateway is None:
        _launch_java(settings, JavaOutput(_show_on_stderr(mask) if verbose else None))
    builder = SparkSession.Builder()
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if not is_submitted() and not IN_THIS_PROCESS.fullmatch(master):
        _ship_code(spark.sparkContext, ship)
    spark.sparkContext.setLogLevel("WARN" if verbose else "OFF")
    return spark


class JavaOutput:
    """A pipe for what Java writes: shown, or the last lines kept in case Java does not start."""

    def __init__(self, show: Callable[[str], None] | None) -> None:
        self._show = show
        self.last_lines: deque[str] = deque(maxlen=LINES_KEPT)
        reading, self.writing = os.pipe()
        threading.Thread(target=self._read, args=[reading], daemon=True).start()

    def last_words(self) -> str:
        """What it said last, without warnings and stack frames."""
        said = [line.strip() for line in self.last_lines]
        return " / ".join(line for line in said if line and not NOISE.search(line)) or "none"

    def _read(self, reading: int) -> None:
        with open(reading, errors="replace") as lines:
            for line in lines:
                self.last_lines.append(line)
                if self._show is not None:
                    self._show(line)


def _show_on_stderr(mask: Callable[[str], str]) -> Callable[[str], None]:
    def show(line: str) -> None:
        sys.stderr.write(mask(line))

    return show


def _launch_java(settings: Mapping[str, str], output: JavaOutput) -> None:
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    # In a session of its own, Java does not get the signals of the terminal: the job says when it ends.
    options = {"stdout": output.writing, "stderr": output.writing, "start_new_session": True}
    try:
        SparkContext._ensure_initialized(gateway=launch_gateway(conf, options))
    except PySparkRuntimeError:
        raise SandboxError(f"Spark's Java did not start; its last words: {output.last_words()}") from None
    finally:
        os.close(output.writing)


def _jar_settings(master: str) -> dict[str, str]:
    jars = [str(jar) for jar in fetched_jars().spark]
    if IN_THIS_PROCESS.fullmatch(master):
        # On the class path they are read where they lie; as spark.jars they would be copied at every start.
        return {"spark.driver.extraClassPath": ":".join(jars)}
    return {"spark.jars": ",".join(jars)}


def _ship_code(context: SparkContext, package: Path | None) -> None:
    """Give the executors this code, whatever is installed where they run."""
    # Spark's own folder: it goes with the session, and until then executors that come late fetch from it.
    packed = Path(context._temp_dir) / "headgate.zip"
    if not packed.exists():
        write_zip(packed, [OURSELVES, *([package] if package else [])])
        context.addPyFile(str(packed))
