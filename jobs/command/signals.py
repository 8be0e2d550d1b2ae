"""Ctrl-C and SIGTERM ask a job to end; a second one does not take no for an answer."""

import signal
import threading
from types import FrameType, TracebackType


class StopSignals:
    """While it is in force, a first signal sets `asked`, and a second one `hurry`."""

    NUMBERS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.hurry = threading.Event()
        self.interrupts = False

    def __enter__(self) -> "StopSignals":
        self._before = {number: signal.getsignal(number) for number in self.NUMBERS}
        self.take_over()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def take_over(self) -> None:
        """Handle the signals from now on; PySpark puts a handler of its own in place when it starts."""
        for number in self.NUMBERS:
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.asked.is_set():
            self.hurry.set()
        self.asked.set()
        if self.interrupts or (self.hurry.is_set() and not self.stopping):
            raise KeyboardInterrupt

    stopping = False
    """Whether the job is being stopped, and looks at `hurry` by itself."""
