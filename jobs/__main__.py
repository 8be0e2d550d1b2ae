"""`python -m jobs` is the command `sluice`."""

import sys

from jobs.cli import main

sys.exit(main())
