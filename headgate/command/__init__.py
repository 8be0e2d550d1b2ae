"""What the command `headgate` does."""
