"""`docs/fit_start.md` does what it says: its files, commands and sessions, one after the other."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "fit_start.md").read_text()
PROGRAM = Path(sys.executable).parent / "regionpredict"
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGINS = {".pdf": b"%PDF-", ".png": b"\x89PNG", ".svg": b"<?xml"}


def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    names: dict[str, object] = {}
    kinds = []
    for kind, file, text in BLOCK.findall(PAGE):
        kinds.append(kind)
        if kind == "yaml":  # what the command before wrote
            assert (tmp_path / file).read_text() == text
        elif kind == "text":
            (tmp_path / file).write_text(text)
        elif kind == "console":
            command, _, shown = text.partition("\n")
            words = shlex.split(command.removeprefix("$ regionpredict "))
            done = subprocess.run(
                [str(PROGRAM), *words], capture_output=True, text=True, env=variables, check=False
            )
            plotted = re.search(r"(?:--plot|-o) (\S+)", command)
            told = f"written: {plotted[1]}\n" if plotted else ""
            code = 1 if "failed: " in shown else 0
            assert (done.returncode, done.stderr) == (code, told), command
            assert done.stdout == shown, command
        elif kind == "sh":  # with any program
            (tmp_path / "program").write_text("#!/bin/sh\n")
            (tmp_path / "program").chmod(0o755)
            subprocess.run(["sh", "-c", text], check=True)
            rows = [line.split(",") for line in (tmp_path / "mine.csv").read_text().split()]
            sizes = [size for size in ("1000", "2000", "4000", "8000", "16000") for _ in range(3)]
            assert [row[0] for row in rows] == ["n", *sizes]
            assert all(float(time) >= 0 for _, time in rows[1:])
        else:
            assert kind == "pycon"
            session = doctest.DocTestParser().get_doctest(text, names, "page", "page", 0)
            failures: list[str] = []
            result = doctest.DocTestRunner().run(session, out=failures.append, clear_globs=False)
            assert not result.failed, "".join(failures)
            names = session.globs
    told = ["text", "console", "console", *["text", "console"] * 3, "console", "yaml"]
    told += ["sh", "text", "console", "console"]
    assert kinds == [*told, "pycon", "pycon"]
    pictures = re.findall(r"[\w]+\.(?:pdf|png|svg)", PAGE)
    assert set(pictures) == {
        "sort.pdf", "shares.svg", "stencil.png", "model.svg", "kernels.png"
    }  # fmt: skip
    for picture in set(pictures):
        assert (tmp_path / picture).read_bytes().startswith(BEGINS[Path(picture).suffix])
