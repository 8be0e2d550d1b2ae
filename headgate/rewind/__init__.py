"""Takes a Structured Streaming checkpoint back to an earlier batch, with a plan, a backup and a way back."""
