"""Starts child processes that end with their parent and receive its interrupts."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_SET = getattr(ctypes.CDLL(None), "prctl", None)
_FROM_KERNEL = 0x80  # SI_KERNEL, asm-generic/siginfo.h: from a terminal, to the whole group
_POLL_S = 5.0


def end_with_parent(number: int, parent: int) -> None:
    """Makes the system send signal `number` to this process when the process `parent` ends.

    It is used in `preexec_fn`, and has an effect only on Linux.
    """
    if _SET is None:
        return
    _SET(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # the parent has already ended
        os.kill(os.getpid(), number)


def run_with_interrupts(
    command: Sequence[str], environment: Mapping[str, str], *, silent: bool = False,
    begin: Callable[[], object] = lambda: None,
) -> tuple[int, bool]:  # fmt: skip
    """Runs a command. Returns its exit code (negative for a signal), and whether it was
    interrupted.

    A terminal also sends SIGINT to the command, which then ends by itself. A SIGINT to only this
    process is passed on, and a second one ends the command. `begin` is called in the child before
    the command. Raises OSError if the command cannot be started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGCHLD})

    def begun() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        begin()

    try:
        process = subprocess.Popen(
            list(command), env=dict(environment), stdout=subprocess.DEVNULL if silent else None,
            preexec_fn=begun,  # noqa: PLW1509
        )  # fmt: skip
        with process:
            return _wait_for(process)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait_for(process: subprocess.Popen[bytes]) -> tuple[int, bool]:
    interrupted = False
    heard = {signal.SIGCHLD}
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        heard.add(signal.SIGINT)
    while (code := process.poll()) is None:
        told = signal.sigtimedwait(heard, _POLL_S)
        if told is None or told.si_signo != signal.SIGINT:
            continue
        if told.si_code != _FROM_KERNEL:
            process.send_signal(signal.SIGKILL if interrupted else signal.SIGINT)
        interrupted = True
    return code, interrupted
