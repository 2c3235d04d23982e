"""`coschedule` as a process: programs that go together, and those that do not."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPY = """\
static double a[8000000], b[8000000];
int main(void)
{
    for (int t = 0; t < 10; t++) {
#pragma omp parallel for
        for (int i = 0; i < 8000000; i++) a[i] = b[i];
    }
    return 0;
}
"""
ROOTS = """\
#include <math.h>
static double x[1000];
int main(void)
{
    for (int t = 0; t < 1000; t++) {
#pragma omp parallel for
        for (int i = 0; i < 1000; i++)
            for (int k = 0; k < 1000; k++) x[i] = sqrt(x[i] / (x[i] + 1.0));
    }
    return 0;
}
"""


def _run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        line, cwd=folder, env=settings, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy and a loop of roots, predicted for 4 packages on one bus."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("copy", COPY), ("roots", ROOTS)):
        (folder / f"{name}.c").write_text(text)
        done = _run("predict", f"{name}.c", "-m", "dunnington", "--format", "json", "-o",
                    f"{name}.json", folder=folder)  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def test_memory_bound_goes_with_compute_bound(programs: Path) -> None:
    # The copy fills the bus from a few cores on; the roots want none of it and all cores.
    done = _run("coschedule", "copy.json", "roots.json", "-m", "dunnington", folder=programs)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("share, ")
    assert re.search(r"share, .*: 1\.\d\d times as fast as taking turns", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_json_has_what_the_table_has(programs: Path) -> None:
    done = _run("coschedule", "copy.json", "roots.json", "-m", "dunnington", "--format", "json",
                folder=programs)  # fmt: skip
    document = json.loads(done.stdout)
    assert document["schema"] == "regionpredict/coschedule/1"
    assert document["share"] is True
    best = document["allocations"][0]
    assert best["seconds"] == max(part["seconds"] for part in best["programs"])
    assert sum(part["cores"] for part in best["programs"]) <= 24
    alone = {part["name"]: part["seconds"] for part in document["alone"]}
    assert document["turns_seconds"] == pytest.approx(sum(alone.values()))
    for part in best["programs"]:
        assert part["slowdown"] == pytest.approx(part["seconds"] / alone[part["name"]])


def test_like_with_like_does_not_share_the_bus(programs: Path) -> None:
    done = _run("coschedule", "copy.json", "copy.json", "-m", "dunnington", folder=programs)
    assert done.stdout.startswith("take turns: the best way to share ")


def test_files_of_one_name_are_programs_of_their_own(programs: Path) -> None:
    done = _run("coschedule", "copy.json", "copy.json", "-m", "dunnington", "--format", "json",
                folder=programs)  # fmt: skip
    schedule = json.loads(done.stdout)["over_time"]
    assert list(schedule["ended"]) == ["copy (1)", "copy (2)"]
    done = _run("coschedule", "copy.json", "copy.json", "-m", "dunnington", "--format", "taskset",
                folder=programs)  # fmt: skip
    assert [line.split()[-1] for line in done.stdout.splitlines() if "taskset" in line] == [
        "./copy", "./copy",
    ]  # fmt: skip


def test_the_lines_pin_every_core_to_one_program(programs: Path) -> None:
    done = _run("coschedule", "copy.json", "roots.json", "-m", "dunnington", "--format", "taskset",
                folder=programs)  # fmt: skip
    places, bound, *lines, last = done.stdout.splitlines()
    assert (places, bound) == ("export OMP_PLACES=cores", "export OMP_PROC_BIND=close")
    assert last == "wait"
    seen: list[int] = []
    for line in lines:
        match = re.fullmatch(r"OMP_NUM_THREADS=(\d+) taskset -c (\S+) \./(copy|roots) &", line)
        assert match is not None
        cores = []
        for part in match[2].split(","):
            low, _, high = part.partition("-")
            cores += list(range(int(low), int(high or low) + 1))
        assert len(cores) == int(match[1])
        seen += cores
    assert len(seen) == len(set(seen))
    assert max(seen) < 24


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("copy.json",), "1 program; give 2 to 4 hints files"),
        (("copy.json", "none.json"), "none.json: cannot be read"),
        (("copy.json", "copy.c"), "copy.c"),
    ],
)
def test_wrong_calls_are_one_line(programs: Path, words: tuple[str, ...], said: str) -> None:
    done = _run("coschedule", *words, "-m", "dunnington", folder=programs)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("form", ["slurm", "taskset"])
def test_lines_that_start_programs_are_of_one_way(programs: Path, form: str) -> None:
    done = _run("coschedule", "copy.json", "roots.json", "-m", "dunnington", "--format", form,
                "--top", "2", folder=programs)  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"regionpredict: --top does not apply to --format {form}; leave it out\n"
    )


OPEN = """\
static double a[8000000], b[8000000];
int told(void);
int main(void)
{
    int n = told();
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp parallel for
    for (int i = 0; i < 8000000; i++) a[i] = b[i];
    return 0;
}
"""


@pytest.fixture(scope="module")
def with_open(programs: Path) -> Path:
    """A program with a loop whose size nobody knows beside the others."""
    (programs / "open.c").write_text(OPEN)
    done = _run("predict", "open.c", "-m", "dunnington", "--format", "json", "-o", "open.json",
                folder=programs)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return programs


def test_turns_are_by_the_plans_and_open_regions_are_named(with_open: Path) -> None:
    done = _run("coschedule", "open.json", "copy.json", "-m", "dunnington", folder=with_open)
    told = "sizes assumed large: open.c:6; predict open with --set"
    assert told in done.stdout.splitlines()
    done = _run("coschedule", "open.json", "copy.json", "-m", "dunnington", "--format", "json",
                folder=with_open)  # fmt: skip
    document = json.loads(done.stdout)
    assert document["open"] == {"open": ["open.c:6"]}
    for part in document["alone"]:
        (plan,) = json.loads((with_open / f"{part['name']}.json").read_text())["plans"]
        assert part["seconds"] <= plan["seconds"]  # alone, a program may have all cores
        assert part["cores"] >= plan["threads"]


def test_a_job_binds_threads_and_says_what_is_assumed(with_open: Path) -> None:
    done = _run("coschedule", "open.json", "copy.json", "-m", "dunnington", "--format", "slurm",
                folder=with_open)  # fmt: skip
    told, places, bound, *steps = done.stdout.splitlines()
    assert told == "# sizes assumed large: open.c:6; predict open with --set"
    assert (places, bound) == ("export OMP_PLACES=cores", "export OMP_PROC_BIND=close")
    assert all("--cpu-bind=cores" in step for step in steps if step != "wait")


SEVERAL = """
double a[8000000], b[8000000], c[512];
int main(void)
{
    for (int t = 0; t < 1000; t++) {
#pragma omp parallel for
        for (int i = 0; i < 512; i++) c[i] = c[i] * 1.5;
    }
#pragma omp parallel for
    for (int i = 0; i < 8000000; i++) a[i] = b[i];
    return 0;
}
"""


@pytest.mark.parametrize("form", ["slurm", "taskset"])
def test_teams_of_several_sizes_have_them_from_run(programs: Path, form: str) -> None:
    """A short loop that runs a thousand times wants one thread, a long copy many."""
    (programs / "several.c").write_text(SEVERAL)
    done = _run("predict", "several.c", "-m", "dunnington", "--format", "json", "-o",
                "several.json", folder=programs)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (plan,) = json.loads((programs / "several.json").read_text())["plans"]
    sizes = {team["id"]: team["threads"] for team in plan["teams"]}
    assert len(set(sizes.values())) == 2
    done = _run("coschedule", "several.json", "copy.json", "-m", "dunnington", "--format", "json",
                folder=programs)  # fmt: skip
    document = json.loads(done.stdout)
    several, copy = document["alone"]
    assert several["sizes"].keys() == sizes.keys()
    assert all(several["sizes"][region] >= threads for region, threads in sizes.items())
    assert len(set(several["sizes"].values())) == 2
    assert len(set(copy["sizes"].values())) == 1
    done = _run("coschedule", "several.json", "copy.json", "-m", "dunnington", "--format", form,
                folder=programs)  # fmt: skip
    told, *lines = done.stdout.splitlines()
    assert told == ("# several: regionpredict run sets the threads of each region; compile with -g")
    started = [line for line in lines if "OMP_NUM_THREADS" in line]
    assert "regionpredict run --hints several.json -- ./several" in started[0]
    assert "regionpredict run" not in started[1]
    assert started[1].removesuffix(" &").endswith(" ./copy")


def test_a_sample_that_waits_for_latency_alone_has_times(programs: Path) -> None:
    """All of trisolv's columns wait for latency: nothing of it is bandwidth, by rounding either."""
    samples = Path(__file__).resolve().parents[2] / "polybench_samples" / "linear_algebra"
    done = _run("predict", str(samples / "trisolv"), "-m", "dunnington", "--format", "json", "-o",
                "trisolv.json", folder=programs)  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = _run("coschedule", "trisolv.json", "trisolv.json", "-m", "dunnington", folder=programs)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match("(share|take turns)[,:] ", done.stdout)


def test_hints_of_a_folder_are_not_read_in_another(programs: Path) -> None:
    """`.` is another folder there, with sources of its own."""
    for name in ("one", "other"):
        (programs / name).mkdir()
    shutil.copy(programs / "copy.c", programs / "one" / "copy.c")
    shutil.copy(programs / "roots.c", programs / "other" / "roots.c")
    done = _run("predict", ".", "-m", "dunnington", "--format", "json", "-o", "here.json",
                folder=programs / "one")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = _run("coschedule", "here.json", "here.json", "-m", "dunnington",
                folder=programs / "one")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = _run("coschedule", "../one/here.json", "../one/here.json", "-m", "dunnington",
                folder=programs / "other")  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(
        "is in none of the sources that it names here; run this in the folder where the hints "
        "were made, or make new hints\n"
    )
