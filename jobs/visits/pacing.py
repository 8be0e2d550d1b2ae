"""Sends at an asked rate, and stops when told to."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STEP_SECONDS = 0.02
MOST_AT_ONCE = 1000


class Pace:
    """So many records a second, measured from the first on: a delay is caught up with; 0 is as fast as possible."""

    def __init__(self, rate: float, visits: int) -> None:
        self.at_once = _records_at_once(rate, visits)
        self._rate = rate
        self._begin = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self._begin

    def left_to_wait(self, sent: int) -> float:
        """How long it is until the records that were sent are due."""
        return sent / self._rate - self.seconds if self._rate else 0.0


def _records_at_once(rate: float, visits: int) -> int:
    """Few enough to be smooth, but a whole round of the visits where that is not many."""
    if not rate:
        return MOST_AT_ONCE
    smooth = max(1, int(min(rate * STEP_SECONDS, MOST_AT_ONCE)))
    return -(-smooth // visits) * visits if visits <= min(rate, MOST_AT_ONCE) else smooth


class Stop:
    """Whether somebody asked to stop."""

    # A plain flag: what a threading.Event does in a signal handler can lock up with what it interrupted.
    asked = False


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """The first Ctrl-C or SIGTERM asks to stop; the next one does what it always does."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.asked = True
        _restore(before)

    for number in before:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        _restore(before)


def _restore(handlers: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
