"""What a rewind says when it does not do what was asked."""


class RefusalError(Exception):
    """The rewind is possible to ask for but wrong to do; nothing has been touched."""


class FailureError(Exception):
    """Something outside of the rewind went wrong: a file, a broker, a file system."""


class DamageError(Exception):
    """A file of the checkpoint is not what Spark writes; the words say which and how, as a part of a sentence."""
