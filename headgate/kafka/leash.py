"""Runs a command that must not outlive the process that asked for it, not even after `kill -9`.

`python -m headgate.kafka.leash COMMAND …` ends the command when its own standard input is closed: the owner holds
the other end of that pipe, and the kernel closes it however the owner dies.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 5


def leashed(command: list[str], **popen_options: object) -> subprocess.Popen[bytes]:
    """Start the command on a leash held by this process; `let_go` ends it."""
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        [sys.executable, __file__, *command],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=os.environ.copy(),
        **popen_options,
    )


def let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the leash and wait until the command is gone."""
    if process.stdin is not None:
        process.stdin.close()
    process.wait(timeout=2 * GRACE_SECONDS)


def main() -> int:
    """Hold the command until it ends by itself or standard input is closed."""
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)  # noqa: PLW1509
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: child.terminate())
    threading.Thread(target=_end_at_eof, args=[child], daemon=True).start()
    return child.wait()


def _end_at_eof(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    child.terminate()
    try:
        child.wait(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


def _die_with_parent() -> None:
    """On Linux the kernel also ends the command if the leash itself is killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
