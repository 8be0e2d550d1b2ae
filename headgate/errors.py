"""What is said to a person when a part of the sandbox cannot be had."""


class SandboxError(Exception):
    """One sentence that says what is wrong, and one that says what to do."""
