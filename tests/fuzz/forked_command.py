"""Runs a command of the package in a fork of this process, and says what is wrong with its end.

A fork starts in milliseconds with everything that was imported before. A traceback, a crash, too
much processor time, an end by another code, or a character that a terminal obeys is wrong.
"""

from __future__ import annotations

import atexit
import os
import re
import resource
import signal
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from warm_command import load_program

__all__ = ["Ended", "load_program", "run"]
MOST_SECONDS = 20
_WAIT_S = 600.0
"""Of elapsed time: only a process that waits takes it, whatever the load of the host."""
_CODES = (0, 1, 2, 3)
_REASON = re.compile(r"^(regionpredict|note|warning): ", re.MULTILINE)
_KEPT = "\n\t\xa0"


class Ended(NamedTuple):
    """What is wrong with the end of a command, empty where nothing is, and what it wrote."""

    wrong: str
    shown: str = ""
    said: str = ""


def run(
    words: Sequence[str], place: Path, seconds: int = MOST_SECONDS, fed: Path | None = None
) -> Ended:
    """Runs a command with `place` as its folder, and a file as its standard input."""
    out, err = place.with_name("out"), place.with_name("err")
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _command(words, place, out, err, seconds, fed or Path(os.devnull))
    end = time.monotonic() + _WAIT_S
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ended(f"hang: no end after {_WAIT_S:g} s")
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(ended[1])
    said = err.read_text(errors="replace")
    shown = out.read_text(errors="replace")
    return Ended(_wrong(code, said, shown, seconds), shown, said)


def _wrong(code: int, said: str, shown: str, seconds: int) -> str:
    if code == -signal.SIGXCPU:
        return f"hang: more than {seconds} s"
    if code not in _CODES:
        return f"ended by {code}: {said[-1500:]}"
    if "Traceback" in said or "internal error" in said + shown:
        at = (said + shown).find("internal error")
        return said[-1500:] or f"internal error: {shown[at : at + 300]}"
    for text in (said, shown):
        odd = {char for char in text if not char.isprintable() and char not in _KEPT}
        if odd - {"\r", "\ufffd"}:
            return f"control characters: {sorted(odd)}"
    if code in (1, 2) and not shown and not _REASON.search(said):
        return f"no line says why: {said[:200]!r}"
    return "" if "Warning: " not in said else said[-1500:]


def _command(
    words: Sequence[str], place: Path, out: Path, err: Path, seconds: int, fed: Path
) -> None:
    """The command, as its process runs it; does not come back."""
    os.setpgid(0, 0)
    _forget_what_the_caller_cleans_up()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    os.chdir(place)
    for number, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
    os.dup2(os.open(fed, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - until the process ends
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["regionpredict", *words]
    from regionpredict.cli.main import program

    try:
        program()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    os._exit(99)


def _forget_what_the_caller_cleans_up() -> None:
    """A command ends with its exit functions. Those of the process that was forked remove its
    temporary folders, which it still uses."""
    atexit._clear()
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    atexit.register(weakref.finalize._exitfunc)  # type: ignore[attr-defined]
