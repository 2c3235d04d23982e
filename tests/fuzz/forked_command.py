"""Runs commands of the package in a fork of this process, and says what is wrong with their end.

A fork starts in milliseconds with everything that was imported before, and several commands in one
fork share what its start costs. A traceback, a crash, too much processor time, an end by another
code, or a character that a terminal obeys is wrong.
"""

from __future__ import annotations

import atexit
import importlib
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import warm_command

from regionpredict.isolation import _outcome_of, _Pool, recursion_limit

__all__ = ["Call", "Ended", "load_program", "run", "run_all"]
MOST_SECONDS = 20
_WAIT_S = 600.0
"""Of elapsed time: only a process that waits takes it, whatever the load of the host."""
_CODES = (0, 1, 2, 3)
_UNEXPECTED = 99
_REASON = re.compile(r"^(regionpredict|note|warning): ", re.MULTILINE)
_WARNING = re.compile(r"\w+Warning: ")
"""Of Python, for developers."""
_KEPT = "\n\t\xa0"


class Call(NamedTuple):
    """A command, the folder that it runs in, and a file as its standard input.

    One that `fails_without_words` leaves the message to another program, or has a protocol.
    """

    words: Sequence[str]
    place: Path
    fed: Path | None = None
    fails_without_words: bool = False

    @property
    def out(self) -> Path:
        return self.place.with_name(f"{self.place.name}.out")

    @property
    def err(self) -> Path:
        return self.place.with_name(f"{self.place.name}.err")


class Ended(NamedTuple):
    """What is wrong with the end of a command, empty where nothing is, and what it wrote."""

    wrong: str
    shown: str = ""
    said: str = ""


class _Left(BaseException):
    """The command ends its process with a code."""

    def __init__(self, code: int) -> None:
        self.code = code


def load_program() -> None:
    """Loads all of the program, and the language server where its packages are there."""
    with suppress(ImportError):
        importlib.import_module("regionpredict.cli.language_server")
    warm_command.load_program()


def run(
    words: Sequence[str], place: Path, seconds: int = MOST_SECONDS, fed: Path | None = None
) -> Ended:
    """Runs a command with `place` as its folder, and a file as its standard input."""
    return next(run_all([Call(words, place, fed)], seconds))


def run_all(calls: Sequence[Call], seconds: int = MOST_SECONDS) -> Iterator[Ended]:
    """Runs commands one after the other in one fork. Each has a folder of its own. After one that
    ends the fork, the next begin another. Several commands read their files in the fork itself
    instead of in further children, which takes a third of the time: a crash there ends the fork."""
    left = list(calls)
    while left:
        for code in _codes(tuple(left), seconds):
            call = left.pop(0)
            if code is None:
                yield Ended(f"hang: no end after {_WAIT_S:g} s")
                continue
            said = call.err.read_text(errors="replace")
            shown = call.out.read_text(errors="replace")
            wrong = _wrong(code, said, shown, seconds)
            unexplained = code in (1, 2) and not shown and not _REASON.search(said)
            if not wrong and unexplained and not call.fails_without_words:
                wrong = f"no line says why: {said[:200]!r}"
            yield Ended(wrong, shown, said)


def _codes(calls: Sequence[Call], seconds: int) -> Iterator[int | None]:
    """The exit code of each command until one ends the fork, with this one; none after a hang."""
    sys.stdout.flush()
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        _in_child(calls, send, seconds)
    os.close(send)
    end = os.pidfd_open(child)
    told = 0
    try:
        while told < len(calls):
            ready = select.select([receive, end], [], [], _WAIT_S)[0]
            if not ready:
                os.killpg(child, signal.SIGKILL)
            code = os.read(receive, 1) if receive in ready else b""
            if not code:
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                yield status if ready else None
                return
            told += 1
            yield code[0]
        os.waitpid(child, 0)
    finally:
        os.close(receive)
        os.close(end)


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
    return said[-1500:] if _WARNING.search(said) else ""


def _in_child(calls: Sequence[Call], send: int, seconds: int) -> NoReturn:
    """The commands, as their process runs them."""
    os.setpgid(0, 0)
    _forget_what_the_caller_cleans_up()
    own, end, environment = os.getpid(), os._exit, dict(os.environ)

    def leave(code: int) -> NoReturn:
        if os.getpid() != own or len(calls) == 1:
            end(code)
        raise _Left(code)

    os._exit = leave  # type: ignore[assignment]
    if len(calls) > 1:
        _Pool.run = _work_here  # type: ignore[method-assign, assignment]
    for call in calls:
        os.environ.clear()
        os.environ.update(environment)
        used = int(time.process_time())
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))
        code = _code(call)
        with suppress(OSError):
            os.write(send, bytes([code & 0xFF]))
    end(0)


def _work_here(pool: _Pool, processes: int, tell: Callable[[int], None]) -> list[Any]:
    with recursion_limit(pool._limits.recursion):
        return [_outcome_of(pool._work, item) for item in pool._items]


def _code(call: Call) -> int:
    os.chdir(call.place)
    for number, path in ((1, call.out), (2, call.err)):
        _become(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    _become(os.open(call.fed or os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - until the process ends
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["regionpredict", *call.words]
    from regionpredict.cli.main import program

    try:
        program()
    except _Left as left:
        return left.code
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    return _UNEXPECTED


def _become(handle: int, number: int) -> None:
    os.dup2(handle, number)
    os.close(handle)


def _forget_what_the_caller_cleans_up() -> None:
    """A command ends with its exit functions. Those of the process that was forked remove its
    temporary folders, which it still uses."""
    atexit._clear()
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    atexit.register(weakref.finalize._exitfunc)  # type: ignore[attr-defined]
