"""Trials have a budget in counted work: less effort leaves sizes out, and the result says so."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import HintRange, OpenHint, with_open_sizes
from regionpredict.predict.constants import LEAST_TRIALS_WORK, QUICK_SHARE, TRIALS_WORK
from regionpredict.report.hints import estimate_fields
from regionpredict.report.size_hints import cut_sentence
from regionpredict.sizes.trials import Effort, work_per_region

MACHINE = load("skylake-gold-6148")
SOURCE = """
void f(int n, int m, double *a, const double *b)
{
#pragma omp parallel for
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[i * m + j] + b[(i - 1) * m + j];
}
"""


def predicted(folder: Path, effort: Effort, text: str = SOURCE) -> Predictions:
    source = folder / "f.c"
    source.write_text(text)
    return predict(
        analyse(requests_for([str(source)], {}), {}), MACHINE, "saturation", effort=effort,
        advised=False,
    )  # fmt: skip


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    (quick,) = predicted(tmp_path, "quick").predictions
    (full,) = predicted(tmp_path, "full").predictions
    assert quick.cut == ("sizes",)
    assert estimate_fields(quick, ())["cut"] == ["sizes"]
    assert cut_sentence([quick, full]) == [
        "Fewer sizes than usual were tried for 1 loop: --effort full tries all."
    ]
    assert full.cut == ()
    assert cut_sentence([full]) == []
    # The answer at the assumed sizes is the same, whatever else was tried.
    assert (quick.packages, quick.threads, quick.speedup) == (
        full.packages, full.threads, full.speedup
    )  # fmt: skip
    assert {*full.deciding} <= {*quick.deciding}
    assert len(quick.by_size) <= len(full.by_size)
    assert quick.confidence <= full.confidence


def test_a_region_of_many_has_less_work(tmp_path: Path) -> None:
    (facts,) = predicted(tmp_path, "quick").analysis.facts
    assert work_per_region([facts], "full") == math.inf
    assert work_per_region([facts], "normal") == TRIALS_WORK.value
    assert work_per_region([facts], "quick") == TRIALS_WORK.value * QUICK_SHARE.value
    works = [work_per_region([facts] * many, "normal") for many in (3, 10, 1000)]
    assert works == sorted(works, reverse=True)
    assert works[-1] == LEAST_TRIALS_WORK.value


def nest_of(references: int) -> str:
    """Five loops with dependent bounds around references to one array in different orders."""
    orders = list(permutations("jklm"))[:references]
    terms = " + ".join("b[i]" + "".join(f"[{name}]" for name in order) for order in orders)
    loops = "".join(
        f"for (int {name} = {first}; {name} < 60; {name}++) "
        for name, first in zip("ijklm", ("0", "i", "i", "i", "l"), strict=True)
    )
    parameters = "double a[60], double b[60][60][60][60][60]"
    return (
        f"void f({parameters}) {{\n#pragma omp parallel for schedule(dynamic)\n"
        f"{loops} a[i] += {terms};\n}}\n"
    )


def test_traffic_of_deep_nests_has_a_budget(tmp_path: Path) -> None:
    (small,) = predicted(tmp_path, "normal", nest_of(2)).predictions
    (large,) = predicted(tmp_path, "normal", nest_of(6)).predictions
    (full,) = predicted(tmp_path, "full", nest_of(6)).predictions
    assert (small.cut, large.cut, full.cut) == ((), ("traffic",), ())
    assert large.speedup != full.speedup
    # Exact on one thread, a socket and all cores, and interpolated in between.
    same = {threads for (threads, less), (_, more) in zip(large.speedup, full.speedup, strict=True)
            if less == more}  # fmt: skip
    assert same >= {1, 20, 40}
    assert cut_sentence([small, large]) == [
        "Traffic is less detailed than usual for 1 loop: --effort full counts all."
    ]


def test_trials_of_many_statements_are_more_work(tmp_path: Path) -> None:
    loop = "#pragma omp parallel for\nfor (int i = 0; i < n; i++) {{{}}}"
    source = f"void f(int n, double *a) {{{{\n{loop}\n}}}}"
    (short,) = predicted(tmp_path, "normal", source.format("a[i] += 1.0;")).predictions
    # 1,000 statements of 900 references: six trials are all of the budget.
    (long,) = predicted(tmp_path, "normal", source.format("a[i] += 1.0;" * 1000)).predictions
    assert short.cut == ()
    assert long.cut == ("sizes",)


def test_a_parallel_region_has_the_cuts_of_its_loops(tmp_path: Path) -> None:
    (team,) = predicted(tmp_path, "quick").teams
    assert team.cut == ("sizes",)


def test_further_trials_keep_the_cuts_of_previous_ones(tmp_path: Path) -> None:
    (quick,) = predicted(tmp_path, "quick").predictions
    known = OpenHint((), frozenset(), (), HintRange((1, 1), (1, 1)), 1, 1.0, 1.0)
    assert with_open_sizes(quick, known).cut == ("sizes",)
    assert with_open_sizes(replace(quick, cut=("neighbours",)), known._replace(cut=True)).cut == (
        "sizes", "neighbours",
    )  # fmt: skip
