"""Runs work on untrusted inputs in child processes, which may crash.

A child processes items until one ends it by a crash, an endless loop, an endless wait, too much
memory, or an exception. Then a new child takes over. That item becomes a `Failure`. All others keep
their results. A fork starts in milliseconds with everything that was imported before.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import resource
import select
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from regionpredict.errors import InputError
from regionpredict.frame_memory import with_frame_memory

T = TypeVar("T")
R = TypeVar("R")

_GIB = 1 << 30


class Limits(NamedTuple):
    """The resources that one item may use.

    `seconds` of processor time, `wall_seconds` of elapsed time, and `idle_seconds` without any
    processor time, such as in a parser that waits for a pipe. `memory` is in bytes of address space
    beyond the child's initial size, `stack` in bytes, and `recursion` in nested Python calls.
    """

    seconds: int = 60
    wall_seconds: float = 1800.0  # a busy host may take many times the processor time
    idle_seconds: float = 30.0
    memory: int = 2 * _GIB
    stack: int = 64 << 20
    recursion: int = 50_000  # generated code has sums of thousands of nested terms


LIMITS = Limits()


class Failure(NamedTuple):
    """The reason why an item failed, in the words of a diagnostic."""

    reason: str


def run_isolated(
    work: Callable[[T], R], items: Sequence[T], processes: int, limits: Limits = LIMITS,
    report_count: Callable[[int], None] = lambda done: None,
) -> list[R | Failure]:  # fmt: skip
    """`work(item)` for each item, in order, or its failure, in up to `processes` child processes.

    List the longest items first. If `work` raises an `InputError`, the first one in the order of
    items is raised here. On platforms without a safe fork, this process does all the work, and only
    exceptions are isolated. `report_count` receives the number of finished items.
    """
    if sys.platform != "linux":
        with recursion_limit(limits.recursion):
            return [_raise_failure(_outcome_of(work, item)) for item in items]
    return [
        _raise_failure(outcome)
        for outcome in _Pool(work, items, limits).run(processes, report_count)
    ]


@contextmanager
def recursion_limit(depth: int) -> Iterator[None]:
    """Increases Python's recursion limit inside the block, and restores it at the end."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def main_stack() -> Iterator[None]:
    """Lets the stack of the main thread grow to that of a child, as Linux allows, for the nested
    calls that `recursion_limit` permits."""
    if sys.platform != "linux":
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = LIMITS.stack if hard == resource.RLIM_INFINITY else min(LIMITS.stack, hard)
    if before != resource.RLIM_INFINITY and before < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (before, hard))


def attempt(work: Callable[..., R], *arguments: Any) -> R | Failure:
    """`work(*arguments)` in this process, or its failure.

    Isolates a bug in one of many results. An InputError is raised, since it concerns the user.
    """
    try:
        return work(*arguments)
    except InputError:
        raise
    except MemoryError:
        return Failure("needs too much memory")
    except RecursionError:
        return Failure("nests too deeply")
    except OverflowError:
        return Failure("has numbers beyond the range of a double")
    except Exception as error:
        return internal_error(error)


def internal_error(error: Exception) -> Failure:
    """A bug of this program with its place: `internal error, KeyError: 'j' (reuse.py:130)`."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return Failure(f"internal error, {said}{place}")


def _outcome_of(work: Callable[[T], R], item: T) -> R | Failure | InputError:
    try:
        return attempt(work, item)
    except InputError as error:
        return error


def _raise_failure(outcome: Any) -> Any:
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


class _Child(NamedTuple):
    """A child process, the pipe for its commands, and the pipe for its results."""

    process: int
    orders: int
    results: BinaryIO


_LOOK_S = 2.0
"""Time between two checks of a child."""


class _Order:
    """The item that a child processes, its deadline, and when it was last seen to use the
    processor.
    """

    def __init__(self, item: int, limits: Limits) -> None:
        self.item = item
        self.begin = self._looked = self._active = time.monotonic()
        self._ticks = -1
        self._limits = limits

    def late(self, child: int, now: float) -> str | None:
        """The reason to end the child, if any."""
        limits = self._limits
        if now - self.begin >= limits.wall_seconds:
            return _took_longer(limits.wall_seconds)
        if now - self._looked >= _LOOK_S:
            self._looked = now
            ticks, runs = _process_activity(child)
            if runs or ticks != self._ticks:
                self._ticks, self._active = ticks, now
        if now - self._active >= limits.idle_seconds:
            return f"waited {limits.idle_seconds:g} s for a file (a pipe or a device?)"
        return None


def _process_activity(process: int) -> tuple[int, bool]:
    """The processor time of all threads in clock ticks, and whether one can run or waits for a
    disk (proc_pid_stat(5)). Where the system does not show it, a process counts as running.
    """
    paths = list(Path(f"/proc/{process}/task").glob("*/stat"))
    ticks, runs = 0, not paths
    with suppress(OSError):
        for path in paths:
            fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
            runs = runs or fields[0] in ("R", "D")
    return ticks, runs


def _took_longer(seconds: float) -> str:
    return f"took longer than {seconds:g} s"


class _Pool:
    """The children of one call, and their current items."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any], limits: Limits) -> None:
        self._work = work
        self._items = items
        self._limits = limits
        self._waiting = deque(range(len(items)))
        self._outcomes: dict[int, Any] = {}
        self._patience = min(_LOOK_S, limits.wall_seconds, limits.idle_seconds)
        self._busy: dict[_Child, _Order] = {}

    def run(self, processes: int, tell: Callable[[int], None]) -> list[Any]:
        """The outcome of every item."""
        try:
            for _ in range(min(processes, len(self._items))):
                self._start_child()
            while self._busy:
                self._collect_results()
                tell(len(self._outcomes))
        finally:
            for child in list(self._busy):
                self._end(child, kill=True)
        return [self._outcomes[item] for item in range(len(self._items))]

    def _start_child(self) -> None:
        """Starts a child with the next item, if there is one."""
        if self._waiting:
            try:
                self._send_next_item(self._fork_child())
            except OSError:  # the system's limit is reached
                if not self._busy:
                    raise

    def _send_next_item(self, child: _Child) -> None:
        """Sends the next item to a child, or ends it."""
        if not self._waiting:
            self._end(child)
            return
        item = self._waiting.popleft()
        self._busy[child] = _Order(item, self._limits)
        with suppress(BrokenPipeError):  # it is dead, which its results show
            os.write(child.orders, item.to_bytes(4, "little"))

    def _collect_results(self) -> None:
        """Collects results, and ends children that take too long."""
        ready, _, _ = select.select([c.results for c in self._busy], [], [], self._patience)
        for child in [c for c in self._busy if c.results in ready]:
            item = self._busy[child].item
            try:
                self._outcomes[item] = pickle.load(child.results)
            except (EOFError, pickle.UnpicklingError):
                self._outcomes[item] = Failure(self._reason_of_end(self._end(child)))
                self._start_child()
            else:
                del self._busy[child]
                if isinstance(self._outcomes[item], Failure):  # the child's state is unknown
                    self._end(child)
                    self._start_child()
                else:
                    self._send_next_item(child)
        now = time.monotonic()
        for child, order in list(self._busy.items()):
            if not ready and (reason := order.late(child.process, now)) is not None:
                self._outcomes[order.item] = Failure(reason)
                self._end(child, kill=True)
                self._start_child()

    def _reason_of_end(self, status: int) -> str:
        """The reason why a child died."""
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if number == signal.SIGXCPU:
            return _took_longer(self._limits.seconds)
        if number in (signal.SIGSEGV, signal.SIGBUS):
            return "crashed the parser (nested too deeply?)"
        if number == signal.SIGKILL:
            return "was killed (out of memory?)"
        if number == signal.SIGABRT:
            return "made the parser give up (out of memory?)"
        return f"ended its process (status {os.waitstatus_to_exitcode(status)})"

    def _end(self, child: _Child, *, kill: bool = False) -> int:
        """Ends a child and returns its wait status."""
        self._busy.pop(child, None)
        if kill:
            os.kill(child.process, signal.SIGKILL)
        os.close(child.orders)
        child.results.close()
        return os.waitpid(child.process, 0)[1]

    # -- in the child ---------------------------------------------------------------------------

    def _fork_child(self) -> _Child:
        orders, giving = os.pipe()
        taking, results = os.pipe()
        process = os.fork()
        if process:
            os.close(orders)
            os.close(results)
            return _Child(process, giving, os.fdopen(taking, "rb"))
        try:
            for other in self._busy:  # otherwise, their pipe would stay open
                os.close(other.orders)
            os.close(giving)
            os.close(taking)
            faulthandler.disable()  # its output and that of a crashing parser are no diagnostics
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            threading.stack_size(self._limits.stack)
            worker = threading.Thread(
                target=with_frame_memory, args=(self._serve_orders, orders, results)
            )
            worker.start()
            worker.join()
        finally:
            os._exit(0)  # without flushing or cleaning up for the caller

    def _serve_orders(self, orders: int, results: int) -> None:
        gc.disable()  # permanently: there are millions of values and hardly a cycle
        sys.setrecursionlimit(self._limits.recursion)
        with suppress(BrokenPipeError), os.fdopen(results, "wb") as stream:
            while order := os.read(orders, 4):
                self._set_limits()
                outcome = _outcome_of(self._work, self._items[int.from_bytes(order, "little")])
                try:
                    data = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
                except (MemoryError, RecursionError):
                    data = pickle.dumps(Failure("gives a result that is too large"))
                stream.write(data)
                stream.flush()

    def _set_limits(self) -> None:
        """Sets new limits, relative to the current usage of the process."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + self._limits.seconds
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + self._limits.memory
        for kind, amount in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, room)):
            _, hard = resource.getrlimit(kind)
            soft = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            resource.setrlimit(kind, (soft, hard))
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
