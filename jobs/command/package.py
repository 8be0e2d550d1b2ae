"""Packs the jobs for a cluster: headgate.zip for `spark-submit --py-files`, and headgate_job.py, the script to submit.

`python -m jobs.command.package` writes both into dist/. Only the standard library is needed.
"""

import sys
from pathlib import Path

from headgate.spark.package import write_zip

SOURCES = Path(__file__).parents[2]
SCRIPT = '''\
"""What spark-submit runs: `spark-submit … --py-files headgate.zip headgate_job.py JOB [options]`."""

import runpy
import sys

name = sys.argv.pop(1)
# As the main program: Spark's Python for state on the driver does not look into --py-files.
runpy.run_module(f"jobs.{name.replace('-', '_')}", run_name="__main__", alter_sys=True)
'''


def main() -> int:
    """Write dist/headgate.zip and dist/headgate_job.py."""
    folder = Path("dist")
    folder.mkdir(exist_ok=True)
    write_zip(folder / "headgate.zip", [SOURCES / "headgate", SOURCES / "jobs"])
    (folder / "headgate_job.py").write_text(SCRIPT)
    print(f"{folder}/headgate.zip {folder}/headgate_job.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
