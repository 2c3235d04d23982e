"""The extension for Visual Studio Code, with the server that is here, in node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regionpredict import __version__

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
CODE = """double a[4000000], b[4000000];
void copy(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 4000000; i++) a[i] = b[i];
}
"""
SERVER = (sys.executable, "-m", "regionpredict", "lsp", "-m", "dunnington")


def session(folder: Path, *command: str) -> dict[str, Any]:
    """What the extension shows of one file, and how its server ended."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    (folder / "copy.c").write_text(CODE)
    done = subprocess.run(
        [node, str(Path(__file__).with_name("vscode_session.js")), str(EXTENSION),
         str(folder / "copy.c"), *command], capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_a_file_has_its_lenses_hover_diagnostics_and_quick_fix(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    shown = session(tmp_path, *SERVER)
    assert [one["line"] for one in shown["diagnostics"]] == [2]
    assert "schedule" in shown["diagnostics"][0]["message"]
    assert any(one["line"] == 2 and "thread" in one["title"] for one in shown["lenses"])
    assert "Iterations" in shown["hover"]["text"]
    (action,) = shown["actions"]
    assert any("schedule(static)" in text for text in action["edit"]["edits"])
    assert shown["end"] == "the server ended with 0"


def test_a_server_that_is_not_there_is_said_once(tmp_path: Path) -> None:
    assert session(tmp_path, "/nowhere/regionpredict")["warning"].startswith("regionpredict: ")


def test_its_description_names_this_version_and_its_files() -> None:
    described = json.loads((EXTENSION / "package.json").read_text())
    assert described["version"] == __version__
    assert (EXTENSION / described["main"]).is_file()
    assert described["capabilities"]["untrustedWorkspaces"]["supported"] is False
