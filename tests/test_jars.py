"""The jar cache: complete or fetched again, and one clear sentence where it cannot be had."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.errors import SandboxError
from headgate.spark import jars, java

RELEASES = ["4.2.0", "4.1.0-preview1", "4.1.0", "4.0.1"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_HOME", str(tmp_path))
    return tmp_path / "jars"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands for Ivy: keeps what it was asked for."""
    asked: list[str] = []

    def retrieve(versions: jars.Versions, token: str, cache: Path, console: object, retrieve_into: Path) -> None:
        asked.append(token)
        for part in ("spark", "broker"):
            (retrieve_into / part).mkdir(parents=True)
            (retrieve_into / part / "a.jar").write_bytes(b"jar")

    monkeypatch.setattr(jars, "_ivy", retrieve)
    monkeypatch.setattr(jars, "_newest_token_provider", lambda wanted, *_: wanted)
    return asked


def test_fetched_once_then_kept(cache: Path, registry: list[str]) -> None:
    first = jars.fetched_jars()
    assert jars.fetched_jars() == first
    assert len(registry) == 1
    assert [jar.name for jar in first.spark] == ["a.jar"]


@pytest.mark.parametrize("damage", ["cut short", "gone", "no manifest"])
def test_half_fetched_cache_is_fetched_again(
    cache: Path, registry: list[str], damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jar = jars.fetched_jars().spark[0]
    if damage == "cut short":
        jar.write_bytes(b"j")
    elif damage == "gone":
        jar.unlink()
    else:
        (jar.parent.parent / jars.MANIFEST).unlink()
    assert jars.fetched_jars().spark[0].read_bytes() == b"jar"
    assert len(registry) == 2
    assert "are incomplete: fetching them again" in capsys.readouterr().err


def _newest_of(releases: list[str], wanted: str) -> str | None:
    """As Ivy answers: an exact version, or the newest below an open end, previews included."""
    if not wanted.startswith("(,"):
        return wanted if wanted in releases else None
    bound = wanted[2:-1]
    order = ["4.0.1", "4.1.0", "4.1.0-preview1", "4.2.0"]
    below = [each for each in releases if order.index(each) < order.index(bound)]
    return max(below, key=order.index, default=None)


@pytest.mark.parametrize(
    ("releases", "used"),
    [
        (RELEASES, "4.2.0"),
        (RELEASES[1:], "4.1.0"),
        (["4.1.0-preview1", "4.0.1"], "4.0.1"),
    ],
)
def test_token_provider_of_sparks_version_or_the_newest_release_before(
    releases: list[str], used: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    monkeypatch.setattr(jars, "_ivy", lambda *_, **__: None)
    monkeypatch.setattr(jars, "_newest_token_provider", lambda wanted, *_: _newest_of(releases, wanted))
    from rich.console import Console

    found = jars._token_provider_version(jars.Versions("4.2.0", "4.4.0"), cache, Console(stderr=True))
    assert found == used
    said = capsys.readouterr().err
    assert said.count("\n") == (0 if used == "4.2.0" else 1)
    assert used == "4.2.0" or f"is not in the registry: using {used}" in said


def test_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "jars").write_text("a file is in the way")
    monkeypatch.setenv("HEADGATE_HOME", str(tmp_path))
    with pytest.raises(SandboxError, match="set HEADGATE_HOME to a folder you can write"):
        jars.fetched_jars()


def test_no_network_on_first_use(tmp_path: Path) -> None:
    """Ivy is sent to a port where nothing listens."""
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="nowhere"/><resolvers>'
        '<ibiblio name="nowhere" m2compatible="true" root="http://127.0.0.1:1/"/></resolvers></ivysettings>'
    )
    run = subprocess.run(
        [sys.executable, "-m", "headgate.spark.jars"],
        env={"PATH": "/usr/bin:/bin", "HEADGATE_HOME": str(tmp_path), "HEADGATE_IVY_SETTINGS": str(settings)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "No registry answers, and the jars are not here yet. Connect to the network" in run.stderr
    assert "Traceback" not in run.stderr
    assert "at org.apache" not in run.stderr


def _fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "is_fine"), [("1.8.0_392", False), ("11.0.2", False), ("17.0.15", True), ("21", True)]
)
def test_java_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_fine: bool) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, version)))
    java.find_java.cache_clear()
    try:
        if is_fine:
            assert java.find_java() == tmp_path / "bin" / "java"
        else:
            with pytest.raises(SandboxError, match="Spark needs 17 or newer. Install OpenJDK 17 or 21"):
                java.find_java()
    finally:
        java.find_java.cache_clear()


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    java.find_java.cache_clear()
    try:
        with pytest.raises(SandboxError, match="No Java was found. Install OpenJDK"):
            java.find_java()
    finally:
        java.find_java.cache_clear()


@pytest.mark.parametrize(
    ("spark", "delta", "artifact"),
    [
        ("4.0.1", "4.0.1", "delta-spark_2.13"),
        ("4.1.1", "4.1.0", "delta-spark_4.1_2.13"),
        ("4.2.0", "4.4.0", "delta-spark_4.2_2.13"),
    ],
)
def test_the_jar_of_delta_fits_spark(spark: str, delta: str, artifact: str) -> None:
    assert jars.Versions(spark, delta).delta_artifact == artifact
