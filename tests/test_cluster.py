"""The jobs on a real Spark cluster: submitted, started from a shell, and with a worker that dies under them."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headgate.kafka.kafka import Kafka
from headgate.spark.cluster import SparkCluster
from headgate.spark.jars import fetched_jars

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SECONDS = 180
# Spark's 200 partitions would be 198 empty tasks a batch.
FEW_TASKS = ["--conf", "spark.sql.shuffle.partitions=2"]
WHERE_THE_CODE_IS = """
import sys
from headgate.spark.session import spark_session
spark = spark_session("where", sys.argv[1], {})
numbers = spark.sparkContext.parallelize(range(4), 4)
print(numbers.map(lambda _: __import__("headgate").__file__).distinct().collect())
spark.stop()
"""
TWO_VISITS = """\
-------------------------------------------
Batch: 0
-------------------------------------------
+--------+-------------+-----------+
|visit_id|visited_pages|is_finished|
+--------+-------------+-----------+
|1       |2            |false      |
+--------+-------------+-----------+

-------------------------------------------
Batch: 1
-------------------------------------------
+--------+-------------+-----------+
|visit_id|visited_pages|is_finished|
+--------+-------------+-----------+
+--------+-------------+-----------+

"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    """One cluster for all of these tests."""
    made = SparkCluster()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make package` builds."""
    return _pack(tmp_path_factory.mktemp("package"))


class Visits:
    """A topic of one test."""

    def __init__(self, address: str) -> None:
        self.topic = f"visits-{uuid.uuid4().hex[:8]}"
        admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
        for made in admin.create_topics([NewTopic(self.topic, 2, 1)]).values():
            made.result(SECONDS)
        self._producer = Producer({"bootstrap.servers": address, "log_level": 0})

    def send(self, *minutes: int) -> None:
        """An event of visit 1 at each of these minutes after seven."""
        for minute in minutes:
            self._producer.produce(self.topic, f'{{"visit_id": 1, "event_time": "2025-09-04T07:{minute:02}:00Z"}}')
        assert self._producer.flush(SECONDS) == 0


@pytest.fixture
def visits(kafka: Kafka) -> Visits:
    """A fresh topic."""
    return Visits(kafka.address)


def _pack(folder: Path) -> Path:
    # -S: without what is installed, since packing needs only the standard library.
    subprocess.run(
        [sys.executable, "-S", "-m", "jobs.command.package"], cwd=folder, env={"PYTHONPATH": str(ROOT)}, check=True
    )
    return folder / "dist"


def _environment(**more: str) -> dict[str, str]:
    path = f"{BIN}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **more}


def _submit(cluster: SparkCluster, dist: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    jars = ",".join(map(str, fetched_jars().spark))
    command = [f"{BIN}/spark-submit", "--master", cluster.master, "--py-files", f"{dist}/headgate.zip", "--jars", jars]
    return subprocess.run(
        [*command, f"{dist}/headgate_job.py", *words],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_submitted_job_prints_its_batches(
    cluster: SparkCluster, dist: Path, visits: Visits, kafka: Kafka, tmp_path: Path
) -> None:
    visits.send(0, 1)
    words = ["early-writer", "--kafka", kafka.address, "--topic", visits.topic, "--checkpoint", "kept"]
    run = _submit(cluster, dist, tmp_path, *words, *FEW_TASKS, "--available-now")
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    # spark-submit puts the job's standard error, here its progress, on standard output.
    shown = run.stdout.splitlines(keepends=True)
    assert "".join(line for line in shown if not line.startswith("{")) == TWO_VISITS
    assert [json.loads(line)["batch"] for line in shown if line.startswith("{")] == [0, 1]
    assert (tmp_path / "kept" / "commits" / "1").is_file()


def test_a_submitted_job_refuses_in_one_sentence(cluster: SparkCluster, dist: Path, tmp_path: Path) -> None:
    run = _submit(cluster, dist, tmp_path, "early-writer", "--kafka", "127.0.0.1:9092", "--watermark", "-5 minutes")
    assert run.returncode == 2, run.stderr
    assert run.stdout.count("\n") == 1
    assert "-5 minutes" in run.stdout


def test_executors_run_the_shipped_code(cluster: SparkCluster, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WHERE_THE_CODE_IS, cluster.master],
        cwd=tmp_path,
        env=_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.stdout == "['./headgate.zip/headgate/__init__.py']\n", run.stderr


def test_a_worker_dies_and_the_counts_stay_right(
    cluster: SparkCluster, visits: Visits, kafka: Kafka, tmp_path: Path
) -> None:
    visits.send(0)
    words = ["run", "early-writer", "--kafka", kafka.address, "--topic", visits.topic, "--master", cluster.master]
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        job = subprocess.Popen(
            [f"{BIN}/headgate", *words],
            cwd=tmp_path,
            env=_environment(HEADGATE_PROJECT=str(ROOT)),
            stdout=to_out,
            stderr=to_err,
        )
    try:
        _wait_until(lambda: "|1       |1            |" in out.read_text(), job, err)
        visits.send(*range(1, 11))
        cluster.workers[0].kill()
        _wait_until(lambda: cluster.registered_workers() == 1, job, err)
        visits.send(*range(11, 21))
        _wait_until(lambda: "|1       |21           |false" in out.read_text(), job, err)
        job.terminate()
        assert job.wait(SECONDS) == 0, err.read_text()
    finally:
        job.kill()
        job.wait(SECONDS)


def _wait_until(fulfilled: Callable[[], bool], job: subprocess.Popen[bytes], err: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not fulfilled():
        assert job.poll() is None, err.read_text()
        assert time.monotonic() < deadline, err.read_text()
        time.sleep(0.2)


def test_the_same_code_gives_the_same_package(dist: Path, tmp_path: Path) -> None:
    assert (_pack(tmp_path) / "headgate.zip").read_bytes() == (dist / "headgate.zip").read_bytes()
    names = zipfile.ZipFile(dist / "headgate.zip").namelist()
    assert {"jobs/early_writer.py", "headgate/rewind/plan.py", "headgate/spark/ivy.xml"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"jobs", "headgate"}
    assert not [name for name in names if "__pycache__" in name]


def test_the_cluster_ends_with_its_command_or_its_owner(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    script = "echo {master}; exit 7"
    command = subprocess.run(
        [sys.executable, "-m", "headgate.spark.cluster", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert command.returncode == 7, command.stderr
    assert _is_gone(command.stdout.strip())
    owner = subprocess.Popen(
        [sys.executable, "-m", "headgate.spark.cluster"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    try:
        assert owner.stdout is not None
        master = owner.stdout.readline().strip()
        assert master.startswith("spark://127.0.0.1:")
        owner.send_signal(signal.SIGKILL)
        assert owner.wait(SECONDS) == -signal.SIGKILL
        assert _is_gone(master)
    finally:
        owner.kill()
        owner.communicate()


def _is_gone(master: str, seconds: float = 20) -> bool:
    port = int(master.rsplit(":", 1)[1])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return True
        time.sleep(0.1)
    return False


def test_a_command_that_is_not_there_starts_nothing() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "headgate.spark.cluster", "no-such-command"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (run.returncode, run.stderr) == (1, "There is no command no-such-command.\n")
