"""Packs Python packages for a cluster: the same code gives the same bytes. Only the standard library is needed."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

SUFFIXES = (".py", ".xml")
OLDEST_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16


def write_zip(target: Path, packages: Sequence[Path]) -> None:
    """Pack the packages, each under its folder's name."""
    with zipfile.ZipFile(target, "w") as packed:
        for name, file in sorted(_files(packages).items()):
            entry = zipfile.ZipInfo(name, OLDEST_TIME)
            entry.external_attr = PLAIN_FILE
            # Stored, not deflated: compressed bytes differ between versions of zlib.
            packed.writestr(entry, file.read_bytes())


def _files(packages: Sequence[Path]) -> dict[str, Path]:
    return {
        file.relative_to(package.parent).as_posix(): file
        for package in packages
        for file in package.rglob("*")
        if file.suffix in SUFFIXES
    }
