"""What numbers in memory decide is told as possible: no row is marked, no hint taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import call

SOURCE = """\
static double a[100000], b[100000];
static int h[1024];
void f(const int *k, const int *bin)
{
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) a[k[i]] = b[i];
#pragma omp parallel for
    for (int i = 0; i < 100000; i++)
#pragma omp atomic
        h[bin[i]]++;
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) a[i] = b[k[i]];
}
"""
RACE = (
    "RP225: a[k[i]] is written through an index from memory: a race if two "
    "iterations use the same index"
)
# 1024 numbers of 4 B are 64 lines; of all updates on p threads 1 - 1/p find theirs elsewhere.
LINES = (
    "RP226: threads contend for 64 lines of 64 B with atomic updates of h[bin[i]]: on {} threads"
)


Predicted = Callable[..., str]


@pytest.fixture
def predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Predicted:
    (tmp_path / "f.c").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)

    def output(*words: str) -> str:
        done = call(monkeypatch, capsys, "predict", "f.c", *words, "-m", "skylake-gold-6148")
        assert done.code == 0, done.err
        return done.out

    return output


def test_the_table_tells_them_without_a_mark(predicted: Predicted) -> None:
    text = predicted()
    assert "!" not in text
    begin = text.index("Possible conflicts, depending on values in memory:\n")
    told = " ".join(text[begin:].split())
    assert RACE in told
    assert LINES.format(40) in told
    assert "97500 of 100000 take the line from another one" in told
    assert max(map(len, text.splitlines())) <= 80


def test_the_clauses_stand(predicted: Predicted) -> None:
    rows = [line for line in predicted("--format", "openmp").splitlines()
            if "#pragma" in line]  # fmt: skip
    assert len(rows) == 3
    assert not any("//" in row for row in rows)


def test_they_are_notes_in_code_scanning(predicted: Predicted) -> None:
    (run_of,) = json.loads(predicted("--format", "sarif"))["runs"]
    levels = {result["ruleId"]: result["level"] for result in run_of["results"]}
    assert levels["RP225"] == levels["RP226"] == "note"


@pytest.mark.parametrize("model", ["saturation", "density"])
def test_what_one_thread_runs_contends_for_nothing(predicted: Predicted, model: str) -> None:
    text = predicted("--threads", "1", "--model", model)
    assert "RP226" not in text
    assert "RP225" in text
