"""`python -m headgate` is the command `headgate`."""

import sys

from headgate.command.cli import main

sys.exit(main())
