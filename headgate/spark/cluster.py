"""A Spark standalone master and two workers as child processes: loopback only, free ports, their own work folder.

`python -m headgate.spark.cluster` prints the master's address and holds until Ctrl-C. With a COMMAND after it, it
runs the command, with `{master}` in its words replaced by that address, and ends with its exit code.
"""

import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pyspark

from headgate.errors import SandboxError
from headgate.kafka.leash import leashed, let_go
from headgate.spark.jars import SCALA_VERSION
from headgate.spark.java import find_java

WORKERS = 2
WORKER_SIZE = ["--cores", "2", "--memory", "2g"]
START_SECONDS = 60
POLL_SECONDS = 0.1
DAEMON = ["-Xmx512m", "-XX:+UseSerialGC", "-Xshare:auto"]
# Executors inherit it too: a sandbox is over before Java's full compiler pays for itself.
QUICK_START = "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1"
# An application takes all cores unless told otherwise; with a core of each worker, two can run beside each other.
SHARED = "-Dspark.deploy.defaultCores=2"
# Nobody needs a second way in, which would be on a fixed port.
NO_REST = "-Dspark.master.rest.enabled=false"
MASTER_PLACE = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
WEB_PLACE = re.compile(r"Bound MasterWebUI to \S+ and started at http://[^:\s]+:(\d+)")
TERMINATED = 128 + signal.SIGTERM


class SparkCluster:
    """A cluster of our own; it ends with `stop`, or with this process however that dies."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="headgate-spark-"))
        self._held = ExitStack()
        self._held.callback(shutil.rmtree, self._home, ignore_errors=True)
        self.workers: list[subprocess.Popen[bytes]] = []
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all its processes and remove their files."""
        self._held.close()

    def wait(self) -> None:
        """Hold for as long as the master runs."""
        self._master.wait()
        raise SandboxError(f"The Spark master has ended; its log ends with: {self._last_words('master')}")

    def _start(self) -> None:
        self._deadline = time.monotonic() + START_SECONDS
        anywhere = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        self._master = self._daemon("master", [SHARED, NO_REST, "org.apache.spark.deploy.master.Master", *anywhere])
        self.master = self._place_in_log(MASTER_PLACE)
        self._web_port = int(self._place_in_log(WEB_PLACE))
        for number in range(1, WORKERS + 1):
            own = [*anywhere, *WORKER_SIZE, "--work-dir", str(self._home / f"work-{number}"), self.master]
            self.workers.append(self._daemon(f"worker-{number}", ["org.apache.spark.deploy.worker.Worker", *own]))
        while self.registered_workers() < WORKERS:
            self._poll()

    def registered_workers(self) -> int:
        """How many workers the master counts on."""
        connection = http.client.HTTPConnection("127.0.0.1", self._web_port, timeout=START_SECONDS)
        try:
            connection.request("GET", "/json/")
            return int(json.load(connection.getresponse())["aliveworkers"])
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SandboxError(f"The Spark master does not answer on its web port ({error}).") from error
        finally:
            connection.close()

    def _daemon(self, name: str, words: list[str]) -> subprocess.Popen[bytes]:
        spark = Path(pyspark.__file__).parent
        # Executors are started from SPARK_HOME, for which a worker must be told its Scala as Spark's scripts do;
        # without SPARK_LOCAL_IP the web pages would be on all interfaces.
        settings = [f"SPARK_HOME={spark}", f"SPARK_SCALA_VERSION={SCALA_VERSION}", "SPARK_LOCAL_IP=127.0.0.1"]
        java = [str(find_java()), *DAEMON, "-cp", f"{spark}/jars/*", *words]
        with self._log(name).open("wb") as log:
            process = leashed(["env", QUICK_START, *settings, *java], stdout=log, stderr=log)
        self._held.callback(let_go, process)
        return process

    def _place_in_log(self, pattern: re.Pattern[str]) -> str:
        while (found := pattern.search(self._log("master").read_text(errors="replace"))) is None:
            self._poll()
        return found.group(1)

    def _poll(self) -> None:
        processes = {"master": self._master} | {f"worker-{n}": each for n, each in enumerate(self.workers, 1)}
        for name, process in processes.items():
            if process.poll() is not None:
                raise SandboxError(f"Spark's {name} did not start; its log ends with: {self._last_words(name)}")
        if time.monotonic() > self._deadline:
            raise SandboxError(
                f"The Spark cluster was not ready after {START_SECONDS} s: try again when less is running."
            )
        time.sleep(POLL_SECONDS)

    def _log(self, name: str) -> Path:
        return self._home / f"{name}.log"

    def _last_words(self, name: str) -> str:
        return " / ".join(self._log(name).read_text(errors="replace").strip().splitlines()[-3:])


def main() -> int:
    """Hold a cluster for as long as the command runs, or until Ctrl-C."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    words = sys.argv[1:]
    try:
        if words and shutil.which(words[0]) is None:
            raise SandboxError(f"There is no command {words[0]}.")
        cluster = SparkCluster()
        try:
            return _run(words, cluster.master) if words else _hold(cluster)
        finally:
            cluster.stop()
    except SandboxError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


def _hold(cluster: SparkCluster) -> int:
    print(cluster.master, flush=True)
    cluster.wait()
    return 0


def _run(words: list[str], master: str) -> int:
    words = [word.replace("{master}", master) for word in words]
    # A terminal sends Ctrl-C to the command too, which decides what to do; a handler, since ignoring is inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    command = subprocess.Popen(words)
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    code = command.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
