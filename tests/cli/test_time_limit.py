"""`predict --time-limit`: what is optional ends, every region keeps its number, a note says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import call

SOURCE = """double c[300];
void f(int n, int m, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i * m + j] += b[j * n + i];
#pragma omp parallel for
  for (int i = 0; i < 300; i++) c[i] += 1.0;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "f.c").write_text(SOURCE)
    return str(tmp_path / "f.c")


def test_after_the_limit_regions_have_numbers_and_a_note_says_what_is_left_out(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("predict", source, "-m", "dunnington", "--format", "json")
    for _ in range(2):  # an answer that the limit cut is not kept
        limited = call(monkeypatch, capsys, *words, "--time-limit", "0.000001s")
        assert limited.code == 0
        assert limited.err == (
            "note: --time-limit 0.000001s: fewer sizes were tried for 1 loop, and no changes to "
            "the source were searched for 1 parallel region\n"
        )
    regions = json.loads(limited.out)["regions"]
    assert all(region["threads"] for region in regions)
    whole = call(monkeypatch, capsys, *words)
    assert whole.err == ""
    assert [region["threads"] for region in json.loads(whole.out)["regions"]] == [
        region["threads"] for region in regions
    ]
    counts = [len(json.loads(outcome.out)["regions"][0]["by_size"]) for outcome in (limited, whole)]
    assert 2 <= counts[0] < counts[1]


def test_a_limit_that_is_not_reached_changes_nothing(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("predict", source, "-m", "dunnington")
    plain = call(monkeypatch, capsys, *words)
    assert call(monkeypatch, capsys, *words, "--time-limit", "2h") == plain


def test_a_limit_is_a_time(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = call(monkeypatch, capsys, "predict", source, "--time-limit", "soon")
    assert wrong.code == 2
    assert wrong.err == (
        "regionpredict: --time-limit soon: not a time; write 30s, 10m, 2m30s or 2h\n"
    )
