"""Runs tests again and again, each time in a fork of a process that has loaded what they stand on.

    python tests/mutants/warmed.py FOLDER ROOM

A fork has loaded everything but the room itself and what imports it, so that a change of a file of
the room is seen. Orders come on standard input and answers go to standard output, each a line of
JSON:

    {"tests": ["tests/predict/test_plan.py::test_one"], "seconds": 60}
    {"code": 1, "ended": true, "output": "the tests' last words"}

`seconds` of processor time are what the tests may take; `ended` is false where they took more.
`code` is pytest's. With `"reach": FILE` that file tells, in JSON, what the tests do: which of them
run a line of the room ([file, line, tests], '' for its import), and the seconds of each.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from coverage import Coverage

MOST_BYTES = 6 << 30  # of address space: what a change makes grow for ever ends there
WALL = 10  # times the processor time, for what waits instead of working
OUTPUT = 2000  # characters of what the tests print that go into an answer
ARGUMENTS = (
    "-q", "-x", "-p", "no:cacheprovider", "-o", "addopts=", "--no-header", "--assert=plain",
)  # fmt: skip


class _Shut(MetaPathFinder):
    """Lets nobody import a package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == self.package or fullname.startswith(f"{self.package}."):
            raise ImportError(fullname)


def load_all_but(room: str) -> None:
    """Imports what of the package and of others can be without a room."""
    import numpy  # noqa: F401

    import regionpredict

    shut = _Shut(f"regionpredict.{room}")
    sys.meta_path.insert(0, shut)
    for module in pkgutil.walk_packages(
        regionpredict.__path__, "regionpredict.", onerror=lambda name: None
    ):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(module.name)
    sys.meta_path.remove(shut)


def work_in_one_process() -> None:
    """Reads files where the tests run: a process for each costs more than most tests."""
    from regionpredict import isolation

    def run(pool: isolation._Pool, processes: int, tell: Callable[[int], None]) -> list[Any]:
        outcomes = []
        for item in pool._items:
            outcomes.append(isolation._outcome_of(pool._work, item))
            tell(len(outcomes))
        return outcomes

    isolation._Pool.run = run  # type: ignore[method-assign]


def find_alike() -> None:
    """Tries the same random cases each time, and looks for no smaller one where one fails."""
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip
    settings.load_profile("mutants")


class Observer:
    """A plug-in that tells which test runs, and keeps the processor seconds of each."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Lines and time belong to the test that takes them."""
        name = item.nodeid.partition("[")[0]
        self.coverage.switch_context(name)
        begin = time.process_time()
        try:
            return (yield)
        finally:
            spent = time.process_time() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def observed(tests: Sequence[str], folder: Path, room: str, reach: Path) -> int:
    """Pytest's exit code; `reach` is written where no test fails."""
    coverage = Coverage(
        data_file=None, config_file=False, source=[str(folder / "regionpredict" / room)]
    )
    observer = Observer(coverage)
    coverage.start()
    code = int(pytest.main([*ARGUMENTS, *tests], plugins=[observer]))
    coverage.stop()
    if code == 0:
        data = coverage.get_data()
        lines = [
            (str(Path(file).relative_to(folder)), line, contexts)
            for file in data.measured_files()
            for line, contexts in data.contexts_by_lineno(file).items()
        ]
        reach.write_text(json.dumps([lines, observer.seconds]))
    return code


def run_tests(work: Callable[[], int], seconds: int, output: BinaryIO) -> tuple[int, bool]:
    """The exit code of `work` in a fork, and whether it came to its end."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        signal.alarm(WALL * seconds)
        code = 3
        with contextlib.suppress(BaseException):
            code = work()
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
        return 1, not late
    return os.waitstatus_to_exitcode(status), True


def asked(order: dict[str, Any], folder: Path, room: str) -> int:
    """Does what an order says; pytest's exit code."""
    if order["reach"]:
        return observed(order["tests"], folder, room, Path(order["reach"]))
    return int(pytest.main([*ARGUMENTS, *order["tests"]]))


def main() -> None:
    """Answers orders until there are no more."""
    folder, room = sys.argv[1:]
    sys.path.insert(0, folder)
    answers = os.fdopen(os.dup(1), "w")
    import regionpredict

    assert regionpredict.__file__ is not None
    assert regionpredict.__file__.startswith(folder), regionpredict.__file__
    work_in_one_process()
    find_alike()
    load_all_but(room)
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile() as output:
            tests = partial(asked, order, Path(folder), room)
            code, ended = run_tests(tests, order["seconds"], output)
            output.seek(0)
            words = output.read().decode(errors="replace")[-OUTPUT:]
        print(json.dumps({"code": code, "ended": ended, "output": words}), file=answers, flush=True)


if __name__ == "__main__":
    main()
