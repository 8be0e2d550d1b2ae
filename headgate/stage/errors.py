"""What a reader of a failing feature is told."""


class StepFailure(AssertionError):
    """The stream did something else than the feature says."""


class FeatureMistake(Exception):
    """The feature itself cannot be right: an unknown job, a column that is not there, a cell that does not parse."""
