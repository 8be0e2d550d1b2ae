"""Kafka in a container, started by Testcontainers; it does not outlive the process that asked for it.

Whoever asks for the container also starts a small watcher, which removes the container once its standard input is
closed: the kernel closes it however the owner dies, `kill -9` included. Where the watcher is killed as well, the
container stays, and the next start removes it: its label names an owner that is no longer alive.
"""

import atexit
import contextlib
import os
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

# mypy takes this repository's docker/ for the package.
from docker.errors import DockerException  # type: ignore[import-not-found,import-untyped,unused-ignore]
from testcontainers.community.kafka import KafkaContainer
from testcontainers.core.config import ConnectionMode, testcontainers_config
from testcontainers.core.docker_client import DockerClient

from headgate.errors import SandboxError
from headgate.kafka.embedded import SERVER_PROPERTIES
from headgate.kafka.kafka import Kafka, answers_within

OWN_IMAGE = "headgate/kafka:8.0.0"
PUBLIC_IMAGE = "confluentinc/cp-kafka:7.9.0"
OWNER_LABEL = "headgate.owner"
LOOPBACK = "127.0.0.1"
ENGINE_SECONDS = 2
START_SECONDS = 60
PULL_SECONDS = 300
PULL_SILENCE_SECONDS = 30
WATCHER_SECONDS = 10

WATCHER = f"""\
import sys
sys.stdin.read()
import docker
engine = docker.from_env()
for container in engine.containers.list(all=True, filters={{"label": "{OWNER_LABEL}=" + sys.argv[1]}}):
    container.remove(force=True, v=True)
"""

# What a container decides for itself: who it is, and where it listens.
_PLACEMENT = ("process.roles", "node.id", "controller.", "listeners", "advertised.listeners", "log.dirs")

_EngineTrouble = (DockerException, OSError, ValueError)


class ContainerKafka(Kafka):
    """A broker in a container of our own, with the settings of the embedded one."""

    def __init__(self, image: str | None = None) -> None:
        if not engine_answers():
            raise SandboxError("No Docker engine answers. Start Docker, or put docker/with-engine before the command.")
        chosen = usable_image(image)
        if chosen is None:
            raise SandboxError(
                f"The image {image or OWN_IMAGE} is not here, and none could be pulled. "
                f"Build {OWN_IMAGE} with docker/build-image."
            )
        remove_abandoned()
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        self._container = _configured(chosen, self._owner)
        self._watcher: subprocess.Popen[bytes] | None = _watcher(self._owner)
        atexit.register(self.stop)
        self._start()
        super().__init__(address=self._container.get_bootstrap_server(), kind=f"Kafka in a container ({chosen})")

    def stop(self) -> None:
        """Remove the container and its data."""
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            return
        atexit.unregister(self.stop)
        # An engine that is gone has taken the broker with it; what it kept is removed at the next start.
        with contextlib.suppress(*_EngineTrouble):
            self._container.stop()
        if watcher.stdin is not None:
            watcher.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            watcher.wait(timeout=WATCHER_SECONDS)

    def pause(self) -> None:
        """Freeze the broker: it keeps its data and its port, and answers nobody."""
        self._container.get_wrapped_container().pause()

    def resume(self) -> None:
        """Let the broker go on where it was frozen."""
        self._container.get_wrapped_container().unpause()

    def _start(self) -> None:
        try:
            self._container.start(timeout=START_SECONDS)
            if answers_within(self._container.get_bootstrap_server(), START_SECONDS):
                return
            trouble = "it does not answer at its published port"
        except (*_EngineTrouble, RuntimeError) as error:
            trouble = (str(error).splitlines() or [type(error).__name__])[0][:300]
        last_words = self._last_words()
        self.stop()
        raise SandboxError(
            f"Kafka did not start in its container: {trouble}; its log ends with: {last_words}. "
            "Build the image again with docker/build-image --force, or use the embedded broker."
        )

    def _last_words(self) -> str:
        try:
            shown = b"".join(self._container.get_logs())
        except Exception:  # whatever is wrong with the log, the trouble itself is what must be told
            return "nothing"
        return " / ".join(shown.decode(errors="replace").strip().splitlines()[-3:]) or "nothing"


def engine_answers() -> bool:
    """Whether a Docker engine answers, quickly."""
    try:
        return bool(_engine(ENGINE_SECONDS).client.ping())
    except _EngineTrouble:
        return False


def usable_image(wanted: str | None = None) -> str | None:
    """An image that is here or can be pulled in bounded time: the wanted one, or else Headgate's own or Confluent's."""
    if wanted is not None:
        return wanted if _is_here(wanted) or _pulled(wanted) else None
    for image in (OWN_IMAGE, PUBLIC_IMAGE):
        if _is_here(image):
            return image
    return PUBLIC_IMAGE if _pulled(PUBLIC_IMAGE) else None


def remove_abandoned() -> None:
    """Remove the containers whose owner, a process of this machine, is no longer alive."""
    engine = _engine(WATCHER_SECONDS).client
    for container in engine.containers.list(all=True, filters={"label": OWNER_LABEL}):
        host, pid, _ = container.labels[OWNER_LABEL].split("/")
        if host == socket.gethostname() and not _is_alive(int(pid)):
            with contextlib.suppress(DockerException):  # another run may be removing it too
                container.remove(force=True, v=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _engine(timeout: float) -> DockerClient:
    return DockerClient(timeout=timeout)


def _is_here(image: str) -> bool:
    try:
        _engine(WATCHER_SECONDS).client.images.get(testcontainers_config.hub_image_name_prefix + image)
    except _EngineTrouble:
        return False
    return True


def _pulled(image: str) -> bool:
    deadline = time.monotonic() + PULL_SECONDS
    name = testcontainers_config.hub_image_name_prefix + image
    try:
        for line in _engine(PULL_SILENCE_SECONDS).client.api.pull(name, stream=True, decode=True):
            if "error" in line or time.monotonic() > deadline:
                return False
    except _EngineTrouble:
        return False
    return _is_here(image)


def _configured(image: str, owner: str) -> KafkaContainer:
    if "TESTCONTAINERS_RYUK_DISABLED" not in os.environ:
        # Testcontainers' reaper is an image of its own, which cannot be pulled everywhere; the watcher does its work.
        testcontainers_config.ryuk_disabled = True
    try:
        container = KafkaContainer(image).with_kraft()
    except ValueError as error:
        raise SandboxError(f"{image} cannot be used: {error}. Name an image tagged 7.0.0 or newer.") from error
    container.with_envs(KAFKA_HEAP_OPTS="-Xmx512m", **_broker_settings())
    container.with_kwargs(labels={OWNER_LABEL: owner})
    if _prefer_loopback():
        container.ports[str(container.port)] = (LOOPBACK,)
    return container


def _prefer_loopback() -> bool:
    """Where the engine runs beside us, publish the broker on loopback only, and reach it there."""
    if testcontainers_config.connection_mode_override is None and _runs_beside_us():
        # In a container Testcontainers takes the engine to be outside it, and would advertise the bridge's address.
        testcontainers_config.connection_mode_override = ConnectionMode.docker_host
        testcontainers_config.tc_host_override = testcontainers_config.tc_host_override or LOOPBACK
    return bool(testcontainers_config.tc_host_override == LOOPBACK)


def _runs_beside_us() -> bool:
    engine = _engine(WATCHER_SECONDS)
    if not engine.client.api.base_url.startswith("http+docker"):
        return False
    return not Path("/.dockerenv").exists() or engine.client.info()["Name"] == socket.gethostname()


def _broker_settings() -> dict[str, str]:
    """The embedded broker's settings, as the variables that a Kafka image understands."""
    pairs = (line.split("=", 1) for line in SERVER_PROPERTIES.splitlines())
    return {f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in pairs if not key.startswith(_PLACEMENT)}


def _watcher(owner: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WATCHER, owner],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
