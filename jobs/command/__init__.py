"""Running a job as a command: words, signals, progress, exit codes."""
