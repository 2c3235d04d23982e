"""`regionpredict sizes` lists conditions whose share decides a hint, and those alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import call

SOURCE = """\
#include <math.h>
double q[4000], c[4000], o[4000];
void f(void)
{
#pragma omp parallel for
  for (int i = 0; i < 4000; i++)
    if (c[i] > 0.5)
      for (int j = 0; j < 100; j++) o[i] += sqrt(q[j] + exp(c[i] * j));
#pragma omp parallel for
  for (int i = 0; i < 4000; i++)
    if (c[i] > 0.5)
      o[i] = c[i];
    else
      o[i] = q[i];
#pragma omp parallel for
  for (int i = 0; i < 4000; i++) {
    if (c[i] > 0.5) for (int j = 0; j < 100; j++) o[i] += exp(c[i] * j); if (q[i] > 1) o[i] = 0;
  }
}
"""
HEAVY, LIGHT, TWO = 7, 11, 17  # the lines of conditions

Told = Callable[..., str]


@pytest.fixture
def told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Told:
    (tmp_path / "f.c").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)

    def output(command: str, *words: str) -> str:
        done = call(monkeypatch, capsys, command, "f.c", *words, "-m", "skylake-gold-6148")
        assert done.code == 0, done.err
        return done.out

    return output


def test_a_share_that_decides_is_listed_with_how_to_give_it(told: Told) -> None:
    lines = told("sizes").splitlines()
    assert lines[0] == "Hints are known for 3 of 3 loops: no size is needed"
    assert lines[2:4] == ["  decides    known  name", f"        1        -  f.c:{HEAVY}=25%"]
    assert lines[8].startswith("25%: the share of executions in which the condition at that line")
    assert max(map(len, lines)) <= 80
    document = json.loads(told("sizes", "--format", "json"))
    assert document["shares"] == [{"name": f"f.c:{HEAVY}", "decides": 1}]


def test_what_is_listed_has_other_hints_by_its_share(told: Told) -> None:
    """Threads that are good lie within 5 % of the best; of those that shares leave apart none is
    the hint at another share."""

    def hint(line: int, share: str) -> tuple[int, int]:
        text = told("predict", "--set", f"f.c:{line}={share}", "--format", "json")
        regions = {region["line"]: region for region in json.loads(text)["regions"]}
        region = regions[line - 2]
        return region["packages"], region["threads"]

    assert hint(HEAVY, "1%") != hint(HEAVY, "99%")
    assert hint(LIGHT, "1%") == hint(LIGHT, "50%") == hint(LIGHT, "99%")


def test_a_share_that_is_given_is_asked_for_no_more(told: Told) -> None:
    text = told("sizes", "--set", f"f.c:{HEAVY}=25%")
    assert text == "Hints are known for 3 of 3 loops: no size is needed\n"


def test_the_file_to_fill_in_has_it(told: Told, tmp_path: Path) -> None:
    blank = told("sizes", "--format", "yaml")
    assert f'"f.c:{HEAVY}":  # as 25%: how often its condition holds, decides 1 of 3 hints' in blank
    (tmp_path / "blank.yaml").write_text(blank)
    assert told("sizes", "--sizes", "blank.yaml") == told("sizes")
    (tmp_path / "full.yaml").write_text(blank.replace(":  #", ": 25%  #"))
    assert "no size is needed" in told("sizes", "--sizes", "full.yaml")


def test_of_two_conditions_at_a_line_none_can_be_given(told: Told) -> None:
    assert f":{TWO}" not in told("sizes")
