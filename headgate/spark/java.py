"""Finds a Java that Spark and Kafka can run on."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from headgate.errors import SandboxError

OLDEST_JAVA = 17
WAY_OUT = "Install OpenJDK 17 or 21 and put it on the PATH, or set JAVA_HOME to it."


@cache
def find_java() -> Path:
    """The `java` of JAVA_HOME, or else of the PATH."""
    java = _java_of_home() or _java_of_path()
    version = _major_version(java)
    if version < OLDEST_JAVA:
        raise SandboxError(f"{java} is Java {version}, and Spark needs {OLDEST_JAVA} or newer. {WAY_OUT}")
    return java


def _java_of_home() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    if not home:
        return None
    java = Path(home) / "bin" / "java"
    if not java.is_file():
        raise SandboxError(f"JAVA_HOME is {home}, where there is no bin/java. {WAY_OUT}")
    return java


def _java_of_path() -> Path:
    found = shutil.which("java")
    if found is None:
        raise SandboxError(f"No Java was found. {WAY_OUT}")
    return Path(found)


def _major_version(java: Path) -> int:
    try:
        # A copy: another thread may be changing the environment, and a child that inherits it meanwhile fails to start.
        shown = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=True, env=os.environ.copy()
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{java} does not run ({error}). {WAY_OUT}") from error
    match = re.search(r'version "(?:1\.)?(\d+)', shown)
    if match is None:
        raise SandboxError(f"{java} does not say which version it is. {WAY_OUT}")
    return int(match.group(1))
