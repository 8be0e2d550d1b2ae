"""Rewind checkpoint: takes a checkpoint back, so that a restarted job begins with an earlier batch."""

from headgate.command.tool import Tool
from headgate.rewind.command import add_arguments, run

TOOL = Tool(
    name="rewind-checkpoint",
    summary="Takes a checkpoint back to an earlier batch; shows the plan only, unless told --apply.",
    example="""echo '{"visit_id": 1, "event_time": "2025-09-04T07:00:00Z"}' |
    headgate run early-writer --checkpoint early_writer_checkpoint --available-now --send -
headgate rewind-checkpoint early_writer_checkpoint --to-batch 0""",
    add_options=add_arguments,
    run=run,
)
