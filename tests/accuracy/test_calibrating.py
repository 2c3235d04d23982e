"""Bands and confidence hold on a file that nobody has seen, where files err as a whole.

Beside each stands what the same procedure gives where cases are mixed, so that no file errs by
itself: it does not hold.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import pytest
from calibrating import fitted_to, left_out
from curves_made_up import made_up, with_outcomes
from evaluate import Answered, by_model
from predictor import FULL

from regionpredict.predict.uncertainty import BAND_SHARE, FittedCurves, confidence_of

pytestmark = pytest.mark.slow

BETWEEN = 0.1
"""Standard deviation, over files, of what each doubling of the whole file is faster."""


MIXED = 10
"""Files into which all cases are dealt out."""


def mixed(files: Sequence[Answered]) -> list[Answered]:
    """As many files that have some cases of each."""
    cases = [pair for one in files for pair in zip(one.data.cases, one.answers, strict=True)]
    made = []
    for number in range(MIXED):
        dealt = cases[number::MIXED]
        data = replace(files[0].data, cases=tuple(case for case, _ in dealt), source=f"{number} -")
        made.append(Answered(data, tuple(answers for _, answers in dealt)))
    return made


def inside(one: Answered, fitted: FittedCurves) -> float:
    """The share of a file's points inside the band."""
    judged = by_model(one.data, [answers[FULL.name] for answers in one.answers], fitted)
    return fmean(case.inside for case in judged if case.inside is not None)


def test_a_band_holds_four_in_five_of_a_file_that_nobody_has_seen() -> None:
    """Files that are off by 10 % a doubling, one way or another, and the largest by nothing: told
    by its 300 cases, the others' look far surer than they are. Eight times, as a dozen files tell
    their spread to a fifth."""
    draw = random.Random(3)

    def file(cases: int, seed: int) -> Answered:
        common = draw.gauss(0.0, BETWEEN)
        return made_up(0.0, 0.1, 0.02, cases=cases, file=str(seed), seed=seed, common=common)

    by_files, by_cases = [], []
    for _ in range(8):
        files = [made_up(0.0, 0.1, 0.02, cases=300, file="large")]
        files += [file(8, seed) for seed in range(12)]
        unseen = [file(4, 100 + seed) for seed in range(30)]
        fits = fitted_to(files), fitted_to(mixed(files))
        by_files += [inside(one, fits[0]) for one in unseen]
        by_cases += [inside(one, fits[1]) for one in unseen]
    assert fmean(by_files) == pytest.approx(BAND_SHARE.value, abs=0.05)
    assert fmean(by_cases) < 0.6


def test_confidence_is_that_of_a_file_that_nobody_has_seen() -> None:
    """300 right hints of one file, and 7 files of 8 hints of which 4 to 8 are right. Of a file
    0.78 are right on average, of all hints 0.96. With one file more of which half is right it
    is 6.75 of 9 files, and 5.75 of 8 without the large one."""
    files = [with_outcomes("large", 300, 0)]
    files += [with_outcomes(str(number), right, 8 - right)
              for number, right in enumerate((4, 5, 6, 6, 6, 7, 8))]  # fmt: skip
    fits = (fitted_to(files), left_out(files)["large"], fitted_to(mixed(files)))
    clear = [confidence_of(1.0, fitted=fitted) for fitted in fits]
    # 0.75 and 0.72 in steps; all hints alike are 342 of 356, and with one in eleven half of it 0.92
    assert clear == [0.75, 0.7, 0.9]


@pytest.mark.parametrize(("files", "most"), [(4, 0.9), (10, 0.95)])
def test_how_sure_a_hint_may_be_grows_with_the_files_that_bear_it(files: int, most: float) -> None:
    """All hints are right, and of one file more half: 4.5 of 5, and 10.5 of 11."""
    found = fitted_to([with_outcomes(str(number), 5, 0) for number in range(files)])
    assert found.most == most
    assert confidence_of(1.0, fitted=found) == most


def test_what_is_left_out_is_not_seen() -> None:
    files = [made_up(0.0, 0.1 * number, 0.02, cases=20, file=str(number)) for number in range(3)]
    twice = files[0]._replace(data=replace(files[0].data, name="another set of it"))
    found = left_out([*files, twice])
    assert list(found) == ["0", "1", "2"]
    # neither the set nor the other one of its file
    assert found["0"] == fitted_to(files[1:])
    assert found["1"] == fitted_to([files[0], files[2], twice])
