"""The command line and what a job does in operation."""
