"""Changes the package in many small ways, and counts which changes the tests catch.

    python tests/mutants/run_mutants.py [--room NAME] [--file PATH] [--number N] [--seed N]
                                        [--jobs N] [--list]

A mutant of a room is caught if a test in that room's folder of `tests/` fails with it, or never
ends. Only tests are run that reach the changed line, the quickest first, until one fails, and those
that take longer than `SLOWEST_S` not at all; each time in a fork of one process that has loaded the
rest of the package (`warmed.py`), and with the same random cases. The mutants are drawn at random,
always the same ones for a seed, from the files of a room in proportion to what can be changed in
them. `--file` draws from files whose path ends so, `--list` prints what is drawn and runs nothing.
Exits with 1 where a room's tests catch less than `ENOUGH` of its mutants. Prints, for each that
survives, its place and the change:

    regionpredict/predict/hints.py:31: comparison: value >= enough -> value > enough
    predict: 38 of 40 caught (95 %)
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import py_compile
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import warmed
from mutations import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
ROOMS = ("analysis", "workload", "predict")
ENOUGH = 0.9
KEPT = ROOT / "build" / "mutants"
"""What the files of tests reach, a file each, named by the content of test and package."""
MOST_S = 600.0  # for a file of tests without any change
SLOWER = 2.0
SLACK_S = 20.0
"""A mutant may loop for ever: it counts as caught where its tests take longer than this and
`SLOWER` times what they take without it."""

SLOWEST_S = 20.0  # of all cases of a test together
"""Tests that take longer are left out: what they alone would catch counts as not caught."""
_KEEPS = ("scope=", "cache")
"""In the text of a file of tests that keeps something from one test to the next."""


class Verdict(NamedTuple):
    """What became of a mutant: `caught`, and by what ('' where no test reaches its line)."""

    mutant: Mutant
    caught: bool
    how: str


class Reach(NamedTuple):
    """What the tests of a room do without any change.

    `tests` are the tests that run a line, by file and line of the package; '' stands for the
    import of a file. `seconds` is how long each test takes.
    """

    tests: Mapping[tuple[str, int], frozenset[str]]
    seconds: Mapping[str, float]

    def of(self, path: Path, line: int) -> frozenset[str]:
        """The tests that run a line."""
        return self.tests.get((str(path), line), frozenset())


def candidates(room: str, files: Sequence[str] = ()) -> list[Mutant]:
    """Every mutant of a room's files, or of those whose path ends with one of `files`."""
    folder = ROOT / "regionpredict" / room
    return [
        mutant
        for path in sorted(folder.rglob("*.py"))
        if not files or path.as_posix().endswith(tuple(files))
        for mutant in mutants_of(path, path.relative_to(ROOT))
    ]


def draw(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """`number` mutants at random, no two at the same place of a file's text."""
    shuffled = list(mutants)
    random.Random(seed).shuffle(shuffled)
    chosen: dict[tuple[Path, int], Mutant] = {}
    for mutant in shuffled:
        if len(chosen) < number:
            chosen.setdefault((mutant.path, mutant.line), mutant)
    return sorted(chosen.values(), key=lambda m: (str(m.path), m.line))


@contextmanager
def copies_of_package(number: int) -> Iterator[SimpleQueue[Path]]:
    """Folders, each with a copy of the package and what it reads, compiled."""
    with tempfile.TemporaryDirectory() as name:
        folders: SimpleQueue[Path] = SimpleQueue()
        for at in range(number):
            folder = Path(name, str(at))
            shutil.copytree(
                ROOT / "regionpredict", folder / "regionpredict",
                ignore=shutil.ignore_patterns("__pycache__"),
            )  # fmt: skip
            (folder / "machines").symlink_to(ROOT / "machines")
            # A changed file is known by its content: within a second, times are the same.
            compileall.compile_dir(
                folder / "regionpredict", quiet=2,
                invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
            )  # fmt: skip
            folders.put(folder)
        yield folders


def environment(folder: Path) -> dict[str, str]:
    """For the tests: the copy comes first, and leaves no compiled files behind."""
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


class WarmTests:
    """A process that runs tests of a room in forks of itself, with one copy of the package."""

    def __init__(self, room: str, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warmed.py")), str(folder), room],
            cwd=ROOT, env=environment(folder), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(
        self, tests: Sequence[str], seconds: float, reach: Path | None = None
    ) -> tuple[int, bool, str]:
        """Pytest's exit code, whether the tests came to their end in time, and what they said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"tests": list(tests), "seconds": int(seconds), "reach": reach and str(reach)}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process that runs the tests ended: {self._process.wait()}")
        answer = json.loads(line)
        return answer["code"], answer["ended"], answer["output"]

    def close(self) -> None:
        """Sends the process home."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def warm_tests(
    room: str, folders: SimpleQueue[Path], jobs: int
) -> Iterator[SimpleQueue[WarmTests]]:
    """A process a folder, which ends with the block."""
    made = [WarmTests(room, folders.get()) for _ in range(jobs)]
    runners: SimpleQueue[WarmTests] = SimpleQueue()
    for runner in made:
        runners.put(runner)
    try:
        yield runners
    finally:
        for runner in made:
            runner.close()


def reach_of(room: str, runners: SimpleQueue[WarmTests], jobs: int) -> Reach:
    """What the tests of a room reach and how long they take; kept for the next time."""
    tests = sorted((ROOT / "tests" / room).rglob("test_*.py"))
    package = _digest(sorted((ROOT / "regionpredict").rglob("*.py")))
    aside = _digest(p for p in sorted((ROOT / "tests" / room).rglob("*.py")) if p not in tests)

    def ask(test: Path) -> tuple[list[tuple[str, int, list[str]]], dict[str, float]]:
        kept = KEPT / f"{_digest([test, Path(warmed.__file__)], package, aside)}.json"
        if not kept.exists():
            runner = runners.get()
            KEPT.mkdir(parents=True, exist_ok=True)
            code, _, output = runner.run([str(test.relative_to(ROOT))], MOST_S, reach=kept)
            runners.put(runner)
            if code:
                raise SystemExit(f"{test} fails without any change:\n{output}")
        lines, seconds = json.loads(kept.read_text())
        return lines, seconds

    reached: dict[tuple[str, int], set[str]] = {}
    times: dict[str, float] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for lines, seconds in pool.map(ask, tests):
            for file, line, contexts in lines:
                reached.setdefault((file, line), set()).update(contexts)
            times |= seconds
    return Reach({place: frozenset(names) for place, names in reached.items()}, times)


def _digest(paths: Iterable[Path], *more: str) -> str:
    digest = hashlib.sha256("\n".join(more).encode())
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:32]


def tests_for(mutant: Mutant, reach: Reach) -> list[str]:
    """The tests to run: those that reach the line, then others of their files that may see it.

    A file that keeps what an early test has made, for those behind it, has tests that do not reach
    the line and see what it does. All tests are run where the line is run by an import.
    """
    # Of `if (` at the end of a line the lines behind are run, not this one.
    lines = range(mutant.statement, mutant.line + 1)
    contexts = frozenset().union(*(reach.of(mutant.path, line) for line in lines))
    files = {context.partition("::")[0] for context in contexts if context}
    keeping = {file for file in files if any(sign in _text_of(file) for sign in _KEEPS)}
    return sorted(
        (
            test for test, seconds in reach.seconds.items()
            if seconds <= SLOWEST_S
            and ("" in contexts or test in contexts or test.partition("::")[0] in keeping)
        ),
        key=lambda test: (test not in contexts, reach.seconds[test], test),
    )  # fmt: skip


@cache
def _text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def judge(mutant: Mutant, reach: Reach, runners: SimpleQueue[WarmTests]) -> Verdict:
    """Whether a test fails with the change."""
    tests = tests_for(mutant, reach)
    if not tests:
        return Verdict(mutant, False, "no test reaches it")
    limit = SLACK_S + SLOWER * sum(reach.seconds[test] for test in tests)
    runner = runners.get()
    target = runner.folder / mutant.path
    source = target.read_text(encoding="utf-8")
    try:
        target.write_text(mutant.apply(source), encoding="utf-8")
        code, ended, output = runner.run(tests, limit)
    finally:
        target.write_text(source, encoding="utf-8")
        runners.put(runner)
    if not ended:
        return Verdict(mutant, True, "never ended")
    if code in (0, 1, 2, 4):  # 2 and 4: a file of tests cannot be imported with it
        return Verdict(mutant, code != 0, "a test fails" if code else "")
    raise SystemExit(f"{mutant}: the tests did not run (code {code}):\n{output}")


def judge_room(room: str, mutants: Sequence[Mutant], jobs: int) -> list[Verdict]:
    """Verdicts on mutants of a room; those that survive are printed."""
    shown = []
    with copies_of_package(jobs) as folders, warm_tests(room, folders, jobs) as runners:
        reach = reach_of(room, runners, jobs)
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(judge, mutant, reach, runners) for mutant in mutants]
            for done in as_completed(waiting):
                verdict = done.result()
                shown.append(verdict)
                if not verdict.caught:
                    reason = f"  ({verdict.how})" if verdict.how else ""
                    print(f"{verdict.mutant}{reason}", flush=True)
    return shown


def show(name: str, verdicts: Sequence[Verdict]) -> float:
    """Prints how many mutants were caught; their share."""
    caught = sum(verdict.caught for verdict in verdicts)
    share = caught / len(verdicts)
    print(f"{name}: {caught} of {len(verdicts)} caught ({share:.0%})", flush=True)
    return share


def main() -> int:
    """Prints what survives, and a line a room."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", action="append", choices=ROOMS, help="default: all")
    parser.add_argument("--file", action="append", default=[], help="the end of a file's path")
    parser.add_argument("--number", type=int, default=120, help="mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print what is drawn, run nothing")
    options = parser.parse_args()
    every = {room: candidates(room, options.file) for room in options.room or ROOMS}
    every = {room: mutants for room, mutants in every.items() if mutants}
    if not every:
        parser.error("no file to change")
    total = sum(len(mutants) for mutants in every.values())
    enough = True
    for room, mutants in every.items():
        drawn = draw(mutants, round(options.number * len(mutants) / total), options.seed)
        if options.list:
            print(*drawn, sep="\n")
            continue
        verdicts = judge_room(room, drawn, options.jobs)
        for path, number in Counter(m.path for m in drawn).items() if options.file else ():
            if number < len(drawn):
                show(str(path), [v for v in verdicts if v.mutant.path == path])
        enough &= show(room, verdicts) >= ENOUGH
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
