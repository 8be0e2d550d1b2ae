"""Rewind checkpoint: takes a checkpoint back, so that a restarted job begins with an earlier batch."""

from jobs.job import Tool
from jobs.rewind.command import add_arguments, run

JOB = Tool(
    name="rewind-checkpoint",
    summary="Takes a checkpoint back to an earlier batch; shows the plan only, unless told --apply.",
    example="sluice rewind-checkpoint checkpoints/early-writer --to-batch 5",
    add_options=add_arguments,
    run=run,
)
