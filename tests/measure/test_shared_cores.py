"""`regionpredict run --share`: programs that agree on their team sizes, and what is left when one
of them is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from measured_programs import environment

from regionpredict.measure.runtime_library import preload_library
from regionpredict.user_cache import private_folder

pytestmark = pytest.mark.compiler
# Regions of 2 ms until the file `stop` exists; each change of team size is a line.
SOURCE = """\
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int team = 0, before = 0;
    while (access("stop", F_OK)) {
#pragma omp parallel
        {
            double begin = omp_get_wtime();
            while (omp_get_wtime() < begin + 0.002) {
            }
#pragma omp single
            team = omp_get_num_threads();
        }
        if (team != before)
            printf("%d\\n", before = team), fflush(stdout);
    }
    return 0;
}
"""
PATIENCE_S = 300.0


class Sharer:
    """A program that shares cores, and the team sizes that it has had."""

    def __init__(self, folder: Path, name: str, words: list[str], settings: dict[str, str]) -> None:
        self.path = folder / f"{name}.teams"
        with self.path.open("w") as out:
            self.process = subprocess.Popen(
                words, cwd=folder, env=settings, stdout=out, start_new_session=True
            )

    @property
    def teams(self) -> list[int]:
        return [int(line) for line in self.path.read_text().split()]

    def has(self, team: int) -> Callable[[], bool]:
        return lambda: self.teams[-1:] == [team]

    def kill(self) -> None:
        """Ends all its processes, without a word to them."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def wait_for(*conditions: Callable[[], bool]) -> bool:
    """Whether all of them hold at once before patience ends."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if all(condition() for condition in conditions):
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sharers")
    (folder / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fopenmp", "p.c", "-o", "p"], cwd=folder, check=True)
    return folder / "p"


Start = Callable[..., Sharer]


@pytest.fixture
def start(binary: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the program with cores of a node of its own; `curve` are its speedups by threads."""
    library = preload_library(["gcc"], private_folder(tmp_path / "cache"), "preload.c")
    offset = next(
        int(line.split()[0], 16)
        for line in subprocess.run(
            ["nm", str(binary)], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if "_omp_fn" in line
    )
    started: list[Sharer] = []

    def begin(name: str, cores: int, curve: str = "") -> Sharer:
        settings = environment(
            OMP_NUM_THREADS=str(cores), LD_PRELOAD=str(library), OMP_WAIT_POLICY="passive",
            REGIONPREDICT_SHARE=str(tmp_path / "share"), REGIONPREDICT_SHARE_CORES=str(cores),
        )  # fmt: skip
        if curve:
            table = tmp_path / f"{name}.limits"
            table.write_text(f"{cores} 0 - {curve} {offset:x} {binary.resolve()}\n")
            settings["REGIONPREDICT_LIMITS"] = str(table)
        started.append(Sharer(tmp_path, name, [str(binary)], settings))
        return started[-1]

    yield begin
    for sharer in started:
        if sharer.process.poll() is None:
            sharer.kill()


def test_a_second_program_gets_its_part_and_leaves_it_at_its_end(start: Start) -> None:
    first = start("first", 4)
    assert wait_for(first.has(4))
    second = start("second", 4)
    assert wait_for(first.has(2), second.has(2))
    second.kill()
    assert wait_for(first.has(4))


def test_cores_go_where_they_gain_most(start: Start) -> None:
    scaling, saturating = start("scaling", 4, "1,2,3,4"), start("flat", 4, "1,1.05,1.05,1.05")
    assert wait_for(scaling.has(3), saturating.has(1))
    scaling.kill()
    assert wait_for(saturating.has(2))  # more gain nothing


def test_a_step_that_pays_later_is_taken(start: Start) -> None:
    stepping, scaling = start("stepping", 4, "1,1,2.9,2.9"), start("scaling", 4, "1,1.1,1.2,1.3")
    assert wait_for(stepping.has(3), scaling.has(1))


def test_whoever_is_killed_at_whatever_point_leaves_all_its_cores(start: Start) -> None:
    draw = random.Random(1)
    first = start("first", 2)
    for number in range(12):
        second = start(f"second{number}", 2)
        if number % 2:
            assert wait_for(first.has(1))
        time.sleep(draw.uniform(0.0, 0.05))
        second.kill()
        assert wait_for(first.has(2))


def test_a_killed_program_and_a_live_one_do_not_share_a_slot(start: Start) -> None:
    first, second = start("first", 6), start("second", 6)
    assert wait_for(first.has(3), second.has(3))
    first.kill()
    third, fourth = start("third", 6), start("fourth", 6)
    assert wait_for(second.has(2), third.has(2), fourth.has(2))


def shared_file(name: str) -> Path:
    return Path(f"/dev/shm/regionpredict-{os.getuid()}-{name}")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "run", *words], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("killed", ["both", "run"])
def test_run_starts_programs_that_share(binary: Path, tmp_path: Path, killed: str) -> None:
    """A program also ends if only the command that started it is killed."""
    shutil.copy(binary, tmp_path / "p")
    name = f"test-{os.getpid()}"
    words = [sys.executable, "-m", "regionpredict", "run", "--share", name, "--", "./p"]
    settings = environment(OMP_NUM_THREADS="2")
    cores = min(2, len(os.sched_getaffinity(0)))
    first = Sharer(tmp_path, "first", words, settings)
    try:
        assert wait_for(first.has(cores))
        second = Sharer(tmp_path, "second", words, settings)
        assert wait_for(first.has(1), second.has(1))
        if killed == "both":
            second.kill()
        else:
            second.process.kill()
            second.process.wait()
        assert wait_for(first.has(cores))
        (tmp_path / "stop").touch()
        assert first.process.wait(timeout=PATIENCE_S) == 0
        assert not shared_file(name).exists()
    finally:
        if first.process.poll() is None:
            first.kill()
        shared_file(name).unlink(missing_ok=True)


def test_a_name_that_is_taken_is_one_line(tmp_path: Path) -> None:
    name = f"taken-{os.getpid()}"
    shared_file(name).mkdir()
    try:
        done = run(tmp_path, "--share", name, "--", "true")
    finally:
        shared_file(name).rmdir()
    assert done.returncode == 1
    assert done.stderr.endswith("belongs to another user; use another --share NAME\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--share", "../x", "--", "true"], "use letters, digits, - and _"),
        (["--", "true"], "give --hints FILE, --share NAME or both"),
    ],
)
def test_wrong_calls_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr
