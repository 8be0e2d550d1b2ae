"""What people are told when something is not as it should be: one sentence each."""


class SandboxError(Exception):
    """A part that a run needs cannot be had; says what is wrong and what to do."""


class Refusal(Exception):
    """What was asked for makes no sense; says why and what to do."""


class StepFailure(AssertionError):
    """The stream did something else than the feature says."""


class FeatureMistake(Exception):
    """The feature itself cannot be right: an unknown job, a column that is not there, a cell that does not parse."""
