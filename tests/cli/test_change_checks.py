"""What `docs/changes.md` has a project's checks do, done as a process in a repository: the hook
before a commit, and the commands of the job that comments."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from regionpredict.cli.group import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "changes.md").read_text()
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
BEFORE = """\
static double a[4000000], x[1000];
void work(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        for (int k = 0; k < 100000; k++) x[i] = x[i] * 0.999 + 1.0;
}
"""
AFTER = BEFORE.replace("i < 1000", "i < 2")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "work.c").write_text(BEFORE)
    (tmp_path / "regionpredict.toml").write_text('machine = "dunnington"\n')
    shutil.copy(ROOT / "machines" / "dunnington.yaml", tmp_path / "machine.yaml")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "before")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line as a runner's shell has it, with the program of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", line], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "GITHUB_BASE_REF": "main"},
    )  # fmt: skip


def test_the_hook_stops_a_commit_that_loses_a_package(repository: Path) -> None:
    hook = HOOKS["regionpredict-diff"]
    line = shlex.join([*shlex.split(hook["entry"]), *hook["args"]])
    assert shell(repository, line).returncode == 0
    (repository / "work.c").write_text(AFTER)
    done = shell(repository, line)
    assert done.returncode == 1
    assert "work.c:3 work" in done.stdout
    assert "packages<baseline" in done.stderr


def test_the_other_hook_reads_every_loop(repository: Path) -> None:
    done = shell(repository, HOOKS["regionpredict-findings"]["entry"])
    assert (done.returncode, "1 loop: 1 predicted" in done.stdout) == (0, True)


def test_hooks_are_what_the_framework_asks_for() -> None:
    for hook in HOOKS.values():
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert hook["entry"].split()[0] == "regionpredict"
        assert hook["entry"].split()[1] in COMMANDS
        assert re.search(hook["files"], "src/a.cpp")
        assert not re.search(hook["files"], "README.md")
        assert hook["id"] in PAGE or hook["id"] == "regionpredict-findings"


def test_the_job_comments_and_fails_where_a_loop_loses_a_package(repository: Path) -> None:
    block = re.search(r"```yaml file=\S+hints\.yml\n(.*?)^```$", PAGE, re.M | re.S)
    assert block is not None
    job = yaml.safe_load(block[1])["jobs"]["hints"]
    runs = {step["name"]: step["run"] for step in job["steps"] if "name" in step}
    (repository / "work.c").write_text(AFTER)
    done = shell(repository, runs["What the change does to the hints"])
    assert done.returncode == 1
    comment = (repository / "hints.md").read_text()  # it is there although the check failed
    assert "work.c:3" in comment
    assert re.search(r"\| 4 packages[^|]*\|[^|]*1 package", comment)
    assert shell(repository, runs["Findings"]).returncode == 0
    assert '"version": "2.1.0"' in (repository / "hints.sarif").read_text()
    assert "hints.md" in runs["Comment"]
