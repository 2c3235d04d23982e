"""Work in child processes: what ends one piece is told of that piece, and of no other."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.errors import InputError
from regionpredict.isolation import LIMITS, Failure, _process_activity, run_isolated

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="no children elsewhere"),
    pytest.mark.isolated_defects,
]

LOW = LIMITS._replace(seconds=1, memory=256 << 20)
SHORT = LIMITS._replace(wall_seconds=4.0)  # no host is so busy that the other pieces take as long
IDLE = LIMITS._replace(idle_seconds=3.0)


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_every_piece_is_done_once_and_in_order(processes: int, count: int) -> None:
    assert run_isolated(lambda n: n * n, range(count), processes) == [n * n for n in range(count)]


def test_the_caller_does_none_of_it() -> None:
    assert os.getpid() not in run_isolated(lambda _: os.getpid(), range(4), 2)


def test_a_child_does_piece_after_piece() -> None:
    assert len(set(run_isolated(lambda _: os.getpid(), range(20), 1))) == 1


def test_long_results_travel() -> None:
    texts = run_isolated(lambda n: str(n) * 200_000, range(6), 3)
    assert [len(text) for text in texts] == [200_000] * 6  # type: ignore[arg-type]


def crash(_: int) -> int:
    return ctypes.string_at(1)[0]


def loop(_: int) -> int:
    while True:
        pass


def wait(_: int) -> int:
    time.sleep(60)
    return 0


def wait_for_a_writer(_: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/pipe")
        return len(Path(folder, "pipe").read_bytes())


def grow(_: int) -> int:
    return len(bytearray(1 << 30))


def leave(_: int) -> int:
    os._exit(3)


def be_killed(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def stumble(_: int) -> int:
    return {"a": 1}["j"]


def nest(n: int) -> int:
    return nest(n + 1)


def overflow(_: int) -> float:
    return float(10**400)


ENDS = {
    crash: "crashed the parser",
    loop: "took longer than 1 s",
    wait: "took longer than 4 s",
    wait_for_a_writer: "waited 3 s for a file",
    grow: "needs too much memory",
    leave: "ended its process (status 3)",
    be_killed: "was killed",
    stumble: "internal error, KeyError: 'j' (test_isolated_work.py:",
    nest: "nests too deeply",
    overflow: "has numbers beyond the range of a double",
}


# A wait for a file is in `test_one_file_takes_no_other_down.py` as well, from the command on.
@pytest.mark.parametrize("processes", further_slow(1, [3, 1]))
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(end, marks=[pytest.mark.slow] * (end is wait_for_a_writer), id=end.__name__)
        for end in ENDS
    ],
)
def test_what_ends_a_piece_is_its_own_failure(end, processes: int) -> None:  # type: ignore[no-untyped-def]
    outcomes = run_isolated(
        lambda n: end(n) if n == 2 else n,
        range(6),
        processes,
        {wait: SHORT, wait_for_a_writer: IDLE}.get(end, LOW),
    )
    failure = outcomes[2]
    assert isinstance(failure, Failure)
    assert failure.reason.startswith(ENDS[end])
    assert outcomes[:2] + outcomes[3:] == [0, 1, 3, 4, 5]


def test_all_may_fail() -> None:
    outcomes = run_isolated(crash, range(5), 2, LOW)
    assert all(isinstance(outcome, Failure) for outcome in outcomes)


def test_a_child_lets_calls_nest_deep_and_the_caller_keeps_its_limit() -> None:
    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    before = sys.getrecursionlimit()
    assert run_isolated(down, [30_000], 1) == [30_000]
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("processes", [1, 3])
def test_a_wrong_input_is_raised_to_the_caller(processes: int) -> None:
    def fails(number: int) -> int:
        if number == 3:
            raise InputError("three", remedy="take four", path="f.c", line=3)
        return number

    with pytest.raises(InputError, match=r"f\.c:3: three; take four"):
        run_isolated(fails, range(8), processes)


def test_a_process_that_the_system_does_not_show_counts_as_running() -> None:
    """Otherwise, a parser that works for 30 s would be ended on a system without /proc."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert _process_activity(child) == (0, True)


def test_no_child_and_no_pipe_is_left() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    children = child_processes()  # those of other tests
    run_isolated(lambda n: crash(n) if n % 3 == 0 else n, range(9), 3, LOW)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert child_processes() == children


def child_processes() -> set[str]:
    """The parent of each process is the fourth field of its `stat`, behind its name."""
    own = str(os.getpid())
    children = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == own:
                children.add(path.parent.name)
    return children


def test_what_a_dying_child_says_is_no_output(capfd: pytest.CaptureFixture[str]) -> None:
    def shout(_: int) -> None:
        os.write(2, b"libclang: crash detected")
        crash(0)

    run_isolated(shout, [0], 1)
    assert capfd.readouterr().err == ""
