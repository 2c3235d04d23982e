"""A machine on which one core gets next to nothing: gains of 10,000 and more keep their columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import call

MACHINE = """\
name: odd
source: a made up data sheet
node: {packages: 2, cores_per_package: 8, clock: 2 GHz, simd: 256}
caches:
  - {level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 4, bytes_per_cycle: 64}
  - {level: 2, size: 16 MiB, ways: 16, cores: 8, latency: 40, bytes_per_cycle: 16}
memory: {latency: 90 ns, bandwidth: {load: {1: 0.001, 8: 44}}}
"""
SOURCE = """\
double a[4000000], b[4000000];
void f(void)
{
#pragma omp parallel for
  for (int i = 0; i < 4000000; i++) a[i] = b[i];
}
"""


def test_rows_keep_their_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.c").write_text(SOURCE)
    (tmp_path / "odd.yaml").write_text(MACHINE)
    monkeypatch.chdir(tmp_path)
    table = call(monkeypatch, capsys, "predict", "f.c", "-m", "odd.yaml").out.splitlines()
    head, row = (line for line in table if line.startswith(("line", "   4  f")))
    assert row.index("x ") == head.index("gain") + len("gain") - 1  # as of any gain
    assert row[: row.index("x ")].split()[-1].isdigit(), "whole, of five figures"
    assert max(map(len, table)) <= 80
    told = call(monkeypatch, capsys, "explain", "f.c:4", "-m", "odd.yaml").out.splitlines()
    begin = told.index("Time by threads (share of each term)")
    assert len({len(line) for line in told[begin + 2 : begin + 18]}) == 1
