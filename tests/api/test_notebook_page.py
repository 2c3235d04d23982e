"""`docs/notebook.md` runs from its first line to its last, and says what it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    printed = []
    for block in BLOCK.findall((ROOT / "docs" / "notebook.md").read_text()):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(block, names)
        printed.append(out.getvalue())
    kernel = names["kernel"]
    assert kernel.function == "kernel_2mm"
    first, second, _ = printed[1].splitlines()
    assert first.split()[:2] == [str(kernel.packages), str(kernel.threads)]
    speedup, low, high = (float(word.strip("(,)")) for word in second.split())
    assert low <= speedup <= high
    sizes = [line.split() for line in printed[2].splitlines()]
    assert [size for size, *_ in sizes] == ["100", "1000", "10000"]
    packages = [int(count) for _, count, _ in sizes]
    assert packages == sorted(packages)  # larger sizes use no fewer
    assert "packages" in printed[3]
