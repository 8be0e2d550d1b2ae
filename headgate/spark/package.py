"""Packs the jobs for a cluster: sluice.zip for `spark-submit --py-files`, and sluice_job.py, the script to submit.

`python -m sandbox.package` writes both into dist/. Only the standard library is needed.
"""

import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).parents[1]
PACKAGES = ("jobs", "sandbox")
SUFFIXES = (".py", ".xml")
OLDEST_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16
SCRIPT = '''\
"""What spark-submit runs: `spark-submit … --py-files sluice.zip sluice_job.py JOB [options]`."""

import sys

from jobs.cli import main

sys.exit(main())
'''


def write_zip(target: Path) -> None:
    """Pack the code; the same code gives the same bytes."""
    with zipfile.ZipFile(target, "w") as packed:
        for file in _files():
            entry = zipfile.ZipInfo(file.relative_to(SOURCES).as_posix(), OLDEST_TIME)
            entry.external_attr = PLAIN_FILE
            # Stored, not deflated: compressed bytes differ between versions of zlib.
            packed.writestr(entry, file.read_bytes())


def _files() -> list[Path]:
    found = [file for package in PACKAGES for file in (SOURCES / package).rglob("*") if file.suffix in SUFFIXES]
    return sorted(found, key=lambda file: file.relative_to(SOURCES).as_posix())


def main() -> int:
    """Write dist/sluice.zip and dist/sluice_job.py."""
    folder = Path("dist")
    folder.mkdir(exist_ok=True)
    write_zip(folder / "sluice.zip")
    (folder / "sluice_job.py").write_text(SCRIPT)
    print(f"{folder}/sluice.zip {folder}/sluice_job.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
