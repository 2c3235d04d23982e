"""Changes the package in many small ways, and counts which changes the tests catch.

    python tests/mutants/run_mutants.py [--room NAME] [--number N] [--seed N] [--jobs N]

A mutant of a room is caught if a test in that room's folder of `tests/` fails with it; only those
tests are run that reach the changed line. The mutants are drawn at random, always the same ones
for a seed, from the files of a room in proportion to what can be changed in them. Exits with 1
where a room's tests catch less than `ENOUGH` of its mutants. Prints, for each that survives, its
place and the change:

    regionpredict/predict/hints.py:31: comparison: value >= enough -> value > enough
    predict: 38 of 40 caught (95 %)
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from coverage import CoverageData
from mutations import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
ROOMS = ("analysis", "workload", "predict")
ENOUGH = 0.9
LIMIT_S = 300.0
"""A mutant may loop for ever: past this it counts as caught."""
_RUN = """
import sys
sys.path.insert(0, {folder!r})
import pytest, regionpredict
assert regionpredict.__file__.startswith({folder!r}), regionpredict.__file__
sys.exit(pytest.main({arguments!r}))
"""


class Verdict(NamedTuple):
    """What became of a mutant: `caught`, and by what ('' where no test reaches its line)."""

    mutant: Mutant
    caught: bool
    how: str


Reached = Mapping[tuple[str, int], frozenset[str]]


def candidates(room: str) -> list[Mutant]:
    """Every mutant of a room's files."""
    folder = ROOT / "regionpredict" / room
    return [
        mutant
        for path in sorted(folder.rglob("*.py"))
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


def copy_of_package(folder: Path) -> None:
    """The package with what it reads, in a folder of its own."""
    shutil.copytree(
        ROOT / "regionpredict", folder / "regionpredict",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    (folder / "machines").symlink_to(ROOT / "machines")


def environment(folder: Path) -> dict[str, str]:
    """For the tests: the copy comes first, and leaves no compiled files behind."""
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def lines_reached(room: str, folder: Path) -> Reached:
    """By file and line of the room: the tests that run it. '' stands for the import of a file."""
    copy_of_package(folder)
    data = folder / "coverage"
    settings = folder / "coveragerc"
    settings.write_text(
        f"[run]\ndynamic_context = test_function\ndata_file = {data}\nsource = {folder}\n"
    )
    script = folder / "run.py"
    script.write_text(_RUN.format(folder=str(folder), arguments=_arguments([f"tests/{room}"])))
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", str(script)],
        cwd=ROOT, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"tests/{room} fails without any change:\n{done.stdout[-2000:]}")
    coverage = CoverageData(str(data))
    coverage.read()
    reached = {}
    for file in coverage.measured_files():
        name = str(Path(file).relative_to(folder))
        for line, contexts in coverage.contexts_by_lineno(file).items():
            reached[name, line] = frozenset(contexts)
    return reached


def _arguments(tests: Sequence[str]) -> list[str]:
    return ["-q", "-x", "-p", "no:cacheprovider", "-o", "addopts=", "--no-header", *tests]


def tests_for(mutant: Mutant, room: str, reached: Reached) -> list[str]:
    """The files of tests to run, those that reach the line; all of them where an import does."""
    contexts = reached.get((str(mutant.path), mutant.statement), frozenset())
    if not contexts:
        return []
    if "" in contexts:
        return [f"tests/{room}"]
    files = {path.stem: path for path in (ROOT / "tests" / room).rglob("test_*.py")}
    names = set()
    for context in contexts:
        *module, function = context.split(".")
        path = next((files[part] for part in module if part in files), None)
        if path is None:
            return [f"tests/{room}"]
        inside = module[module.index(path.stem) + 1 :]
        names.add("::".join([str(path.relative_to(ROOT)), *inside, function]))
    return sorted(names)


def judge(mutant: Mutant, tests: Sequence[str]) -> Verdict:
    """Whether a test fails with the change."""
    if not tests:
        return Verdict(mutant, False, "no test reaches it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_package(folder)
        target = folder / mutant.path
        target.write_text(mutant.apply(target.read_text(encoding="utf-8")), encoding="utf-8")
        script = _RUN.format(folder=str(folder), arguments=_arguments(tests))
        try:
            done = subprocess.run(
                [sys.executable, "-c", script], cwd=ROOT, env=environment(folder),
                capture_output=True, text=True, check=False, timeout=LIMIT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Verdict(mutant, True, "never ended")
    if done.returncode in (0, 1, 2):
        return Verdict(mutant, done.returncode != 0, "a test fails" if done.returncode else "")
    raise SystemExit(
        f"{mutant}: the tests did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    )


def judge_room(room: str, number: int, seed: int, jobs: int) -> list[Verdict]:
    """Verdicts on `number` mutants of a room."""
    mutants = draw(candidates(room), number, seed)
    with tempfile.TemporaryDirectory() as folder:
        reached = lines_reached(room, Path(folder))
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = pool.map(lambda m: judge(m, tests_for(m, room, reached)), mutants)
        shown = []
        for verdict in verdicts:
            shown.append(verdict)
            if not verdict.caught:
                reason = f"  ({verdict.how})" if verdict.how else ""
                print(f"{verdict.mutant}{reason}", flush=True)
    return shown


def main() -> int:
    """Prints what survives, and a line a room."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", action="append", choices=ROOMS, help="default: all")
    parser.add_argument("--number", type=int, default=120, help="mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    rooms = [room for room in options.room or ROOMS if (ROOT / "regionpredict" / room).is_dir()]
    sizes = {room: len(candidates(room)) for room in rooms}
    enough = True
    for room in rooms:
        number = round(options.number * sizes[room] / sum(sizes.values()))
        verdicts = judge_room(room, number, options.seed, options.jobs)
        caught = sum(verdict.caught for verdict in verdicts)
        share = caught / len(verdicts)
        print(f"{room}: {caught} of {len(verdicts)} caught ({share:.0%})", flush=True)
        enough &= share >= ENOUGH
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
