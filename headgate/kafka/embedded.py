"""Apache Kafka in KRaft mode as a child process: loopback only, free ports, its own data directory."""

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path

from headgate.errors import SandboxError
from headgate.kafka.kafka import Kafka, answers_within
from headgate.kafka.leash import leashed, let_go
from headgate.spark.jars import fetched_jars
from headgate.spark.java import find_java

START_SECONDS = 60
FAST_START = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"]
PORT_TRIES = 3

SERVER_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
log.segment.delete.delay.ms=1000
log.initial.task.delay.ms=100
message.max.bytes=8388608
"""

LOG4J = """\
<Configuration><Appenders><Console name="out"><PatternLayout pattern="%d %p %c{1} %m%n"/></Console></Appenders>
<Loggers><Root level="info"><AppenderRef ref="out"/></Root></Loggers></Configuration>
"""


class EmbeddedKafka(Kafka):
    """A broker of our own; it ends with `stop`, or with this process however that dies."""

    def __init__(self, folder: Path | None = None, port: int | None = None) -> None:
        self._wanted_port = port
        self._jars = fetched_jars().broker
        self._home = folder or Path(tempfile.mkdtemp(prefix="headgate-kafka-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._format_and_start()
        super().__init__(address=f"127.0.0.1:{self._port}", kind="embedded Apache Kafka")

    def stop(self) -> None:
        """End the broker and remove its data."""
        self.pause()
        shutil.rmtree(self._home, ignore_errors=True)

    def pause(self) -> None:
        """End the broker but keep its data and its port, as an outage does."""
        if self._process is not None:
            let_go(self._process)
            self._process = None

    def resume(self) -> None:
        """Start the broker again, on the same port with the same data."""
        self._start()

    def _format_and_start(self) -> None:
        for attempt in range(1, PORT_TRIES + 1):
            free_port, controller_port = _free_ports(2)
            self._port = self._wanted_port or free_port
            self._configure(controller_port)
            try:
                self._run_tool("kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(self._properties))
                self._start()
            except SandboxError:
                shutil.rmtree(self._home / "data", ignore_errors=True)
                if attempt == PORT_TRIES or self._wanted_port:
                    raise
            else:
                return

    @property
    def _properties(self) -> Path:
        return self._home / "server.properties"

    @property
    def _log(self) -> Path:
        return self._home / "server.log"

    def _configure(self, controller_port: int) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        (self._home / "log4j2.xml").write_text(LOG4J)
        self._properties.write_text(
            SERVER_PROPERTIES.format(port=self._port, controller_port=controller_port, data=self._home / "data")
        )

    def _java(self, main_class: str, *arguments: str) -> list[str]:
        classpath = ":".join(map(str, self._jars))
        logging = f"-Dlog4j2.configurationFile={self._home / 'log4j2.xml'}"
        return [str(find_java()), *FAST_START, logging, "-cp", classpath, main_class, *arguments]

    def _run_tool(self, main_class: str, *arguments: str) -> None:
        ran = subprocess.run(
            self._java(main_class, *arguments),
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
            env=os.environ.copy(),
        )
        if ran.returncode != 0:
            raise SandboxError(f"Kafka's storage could not be formatted: {(ran.stderr or ran.stdout).strip()[-500:]}")

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = leashed(self._java("kafka.Kafka", str(self._properties)), stdout=log, stderr=log)
        process = self._process
        if not answers_within(f"127.0.0.1:{self._port}", START_SECONDS, still_alive=lambda: process.poll() is None):
            self.pause()
            raise SandboxError(f"The embedded Kafka did not start; its log ends with: {self._last_words()}")

    def _last_words(self) -> str:
        return " / ".join(self._log.read_text(errors="replace").strip().splitlines()[-3:])


def _cluster_id() -> str:
    return urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
