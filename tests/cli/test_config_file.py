"""`regionpredict.toml` as a process: found, overruled, refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """\
#ifndef W
#define W 1.0
#endif
void scale(int n, double *a)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = W * a[i];
}
"""
OTHER = CODE.replace("scale", "other").replace("int n,", "int m,").replace("i < n", "i < m")


def run(cwd: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=cwd, capture_output=True, text=True,
        check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files, one in a folder of its own."""
    (tmp_path / "src" / "old").mkdir(parents=True)
    (tmp_path / "src" / "a.c").write_text(CODE)
    (tmp_path / "src" / "old" / "b.c").write_text(OTHER)
    return tmp_path


def hints(project: Path, config: str, *words: str, cwd: str = ".") -> dict[str, Any]:
    (project / "regionpredict.toml").write_text(config)
    done = run(project / cwd, "predict", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def trips(told: dict[str, Any]) -> dict[str, int | None]:
    return {one["function"]: one["iterations"]["value"] for one in told["regions"]}


def test_machine_and_sizes_of_the_file_are_taken(project: Path) -> None:
    told = hints(project, 'machine = "dunnington"\nset = {n = 1234}\n', "src")
    assert told["machine"]["name"] == "dunnington"
    assert trips(told) == {"scale": 1234, "other": None}


def test_it_is_found_from_below_and_paths_are_from_it(project: Path) -> None:
    (project / "sizes.yaml").write_text("small:\n  n: 77\n")
    (project / "node.yaml").write_text((ROOT / "machines" / "dunnington.yaml").read_text())
    config = 'machine = "node.yaml"\nsizes = "sizes.yaml:small"\n'
    assert trips(hints(project, config, "a.c", cwd="src")) == {"scale": 77}


def test_the_command_line_goes_first(project: Path) -> None:
    config = 'machine = "dunnington"\nset = {n = 5, m = 6}\ndefines = ["W=2.0"]\n'
    told = hints(project, config, "src", "-m", "clovertown", "--set", "n=9", "-D", "W=3.0")
    assert told["machine"]["name"] == "clovertown"
    assert trips(told) == {"scale": 9, "other": 6}
    assert told["request"]["defines"] == ["W=3.0"]
    assert sorted(told["request"]["given"]) == ["m=6", "n=9"]


def test_what_a_part_of_the_project_has_not_is_passed_over(project: Path) -> None:
    config = 'machine = "dunnington"\nset = {n = 5, m = 6}\n'
    assert trips(hints(project, config, "src/a.c")) == {"scale": 5}
    wrong = run(project, "predict", "src/a.c", "--set", "m=6")
    assert wrong.returncode == 2
    assert "--set m: no region depends on it" in wrong.stderr


def test_files_are_left_out(project: Path) -> None:
    config = 'machine = "dunnington"\nexclude = ["old"]\n'
    assert set(trips(hints(project, config, "src"))) == {"scale"}
    both = run(project, "predict", "src", "--exclude", "a.c")
    assert both.returncode == 1
    assert both.stderr.endswith(
        "\nregionpredict: --exclude old --exclude a.c: leaves no file; leave one out\n"
    )


def test_without_it_nothing_is_taken(project: Path) -> None:
    (project / "regionpredict.toml").write_text('machine = "dunnington"\n')
    assert run(project, "predict", "src").returncode == 0
    done = run(project, "--no-config", "predict", "src")
    assert done.returncode == 2
    assert "no machine" in done.stderr
    assert run(project, "fit", "missing.csv").returncode == 1  # takes nothing of it


def test_an_answer_is_made_anew_where_the_file_changes(project: Path, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "REGIONPREDICT_CACHE": "on"}
    config = project / "regionpredict.toml"
    answers = []
    for value in (5, 5, 7):
        config.write_text(f'machine = "dunnington"\nset = {{n = {value}}}\n')
        done = run(project, "predict", "src/a.c", "--format", "csv", **cache)
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout)
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            'machine = "dunnington"\nmashine = "x"\n',
            ":2: unknown key 'mashine'; there are machine,",
        ),
        ("machine = 3\n", ":1: 'machine' must be a string"),
        ('defines = "N=3"\n', ":1: 'defines' must be a list of texts"),
        ("set = {n = 1.5}\n", ":1: 'set' must be a table of whole numbers"),
        ("set = {n = true}\n", ":1: 'set' must be a table of whole numbers"),
        ("within = true\n", ":1: 'within' must be a number"),
        ("machine = [\n", ": not TOML: not closed or not complete at the end of the file; "),
        ("a = " + "[" * 100_000, ": "),
        ("jobs = " + "9" * 5_000 + "\n", ": not TOML: a value cannot be read; "),
        ("#" * (4 << 20) + "\n", ": longer than 4 MiB; is it the right file?"),
    ],
)
def test_what_is_wrong_is_one_line(project: Path, config: str, message: str) -> None:
    (project / "regionpredict.toml").write_text(config)
    done = run(project / "src", "predict", ".")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"regionpredict: {project / 'regionpredict.toml'}{message}")


def test_a_machine_whose_name_is_too_long_for_a_file_is_an_unknown_one(project: Path) -> None:
    (project / "regionpredict.toml").write_text(f'machine = "{"x" * 5_000}"\n')
    done = run(project / "src", "predict", ".")
    assert (done.returncode, done.stdout) == (1, "")
    used, line = done.stderr.splitlines()
    assert used == f"options from {project / 'regionpredict.toml'}"
    assert line.startswith("regionpredict: no machine is called 'xxx")


@pytest.mark.parametrize("boundary", ["repository", "home", "shared folder"])
def test_no_file_above_the_boundary_is_used(project: Path, boundary: str) -> None:
    """As for git: above a repository, a home, or below a folder like /tmp it is not the user's."""
    (project / "regionpredict.toml").write_text('machine = "dunnington"\n')
    home = str(project / "src") if boundary == "home" else "/nowhere"
    assert run(project / "src", "predict", "a.c", HOME=home).returncode == 2 * (boundary == "home")
    if boundary == "repository":
        (project / "src" / ".git").mkdir()
    if boundary == "shared folder":
        project.chmod(0o1777)
    done = run(project / "src", "predict", "a.c", HOME=home)
    assert done.returncode == 2
    assert "no machine" in done.stderr


def test_a_file_that_others_can_change_is_refused(project: Path) -> None:
    config = project / "regionpredict.toml"
    config.write_text('machine = "dunnington"\n')
    config.chmod(0o666)
    done = run(project / "src", "predict", "a.c")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"regionpredict: {config}: every user can change it")
    assert run(project, "--no-config", "predict", "src/a.c", "-m", "dunnington").returncode == 0


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(project: Path) -> None:
    config = project / "regionpredict.toml"
    config.write_text('machine = "dunnington"\n')
    os.chown(config, 65534, 65534)
    done = run(project / "src", "predict", "a.c")
    assert done.returncode == 1
    assert f"{config}: belongs to user 65534, and is not used" in done.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, ("predict", "src", "-m", "x" * 5_000)),
        (1, ("predict", "src", "-m", f"./{'x' * 5_000}.yaml")),
        (1, ("predict", "src", "-m", "dunnington", "--sizes", "x" * 5_000)),
        (1, ("fit", "x" * 5_000)),
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_one_line(
    project: Path, code: int, words: tuple[str, ...]
) -> None:
    done = run(project, *words)
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: ")
