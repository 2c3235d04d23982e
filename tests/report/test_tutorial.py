"""`docs/tutorial.md` does what it says: its file and its commands, one after the other.

What does not depend on the machine is compared; the others have to end well and leave what the
next step needs. The pages as a site have no link that leads nowhere.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = Path(sys.executable).parent / "regionpredict"


@pytest.mark.compiler
@pytest.mark.slow
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    folder = tmp_path / "empty"
    folder.mkdir()
    ran = []
    for kind, what, text in BLOCK.findall(PAGE):
        if what == "install":
            assert kind == "sh"  # an environment of its own: what CI and users do, not this test
        elif kind == "c":
            (folder / what.removeprefix("file=")).write_text(text)
        else:
            lines, shown = text.splitlines(), None
            if kind == "console":
                lines, shown = [lines[0].removeprefix("$ ")], text.partition("\n")[2]
            for line in lines:
                words = shlex.split(line)
                assert words[0] == "regionpredict"
                done = subprocess.run(
                    [str(PROGRAM), *words[1:]], cwd=folder, env=variables, capture_output=True,
                    text=True, check=False, timeout=600,
                )  # fmt: skip
                assert done.returncode == 0, (line, done.stderr)
                assert shown is None or done.stdout == shown, line
                ran.append(words[1])
    assert ran == ["predict", "explain", "predict", "predict", "calibrate", "predict", "cc",
                   "measure", "compare"]  # fmt: skip
    assert {"curves.pdf", "here.yaml", "hints.json", "runs.jsonl", "heat"} <= {
        path.name for path in folder.iterdir()
    }
    for said in ("regionpredict machines list", "regionpredict sizes heat.c -m dunnington",
                 "regionpredict machines check here.yaml"):  # fmt: skip
        assert f"`{said}`" in PAGE
        done = subprocess.run(
            [str(PROGRAM), *said.split()[1:]], cwd=folder, env=variables, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), said
        assert "Traceback" not in done.stderr


def test_what_the_text_says_of_the_first_hint_stands_in_it() -> None:
    """The numbers that a reader is led to are those of the table above them."""
    row = next(line for line in PAGE.splitlines() if line.split()[1:2] == ["spread"])
    line, _, iterations, size, _, gain, packages, threads, *_ = row.split()
    text = PAGE.partition("Read a line from left to right")[2].partition("\n\n")[0]
    assert f"line {line} shares {iterations} iterations" in text
    assert f"touches {size} MiB" in text
    assert f"`{gain.rstrip('x')}` times as fast on `{packages}` packages with `{threads}`" in text


def test_the_pages_are_a_site_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    for page in (ROOT / "docs").glob("*.md"):
        assert (tmp_path / f"{page.stem}.html").exists()
        if page.name != "index.md":
            assert f"({page.name})" in (ROOT / "docs" / "index.md").read_text(), page.name
