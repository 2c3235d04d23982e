"""Plans that are known already change nothing but the time."""

from __future__ import annotations

import numpy as np
import pytest

from regionpredict.fit import Criterion, SearchSpace, fit
from regionpredict.fit.search.options import Options
from regionpredict.fit.search.point_plans import _cached_plan, plan_of

LINE = [(2,), (4,), (8,), (16,), (32,), (64,)]
GRID = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]


def noisy(points, f):
    rng = np.random.default_rng(7)
    return [list(f(*point) * rng.normal(1, 0.05, 4)) for point in points]


SERIES = [
    (LINE, noisy(LINE, lambda p: 3 + 2 * np.log2(p))),
    (LINE, noisy(LINE, lambda p: 7 + 0.1 * p)),
    (GRID, noisy(GRID, lambda p, n: 5 + 3 * p + 0.2 * n**2)),
    (GRID, noisy(GRID, lambda p, n: 5 + 0.01 * p * n**2)),
]
CRITERIA = (Criterion(), Criterion(growth=400.0), Criterion(rarity=0.0))


def test_known_plans_give_the_models_of_new_ones():
    for _ in range(2):
        for criterion in CRITERIA:
            for points, values in SERIES:
                kept = fit(points, values, criterion=criterion)
                _cached_plan.cache_clear()
                alone = fit(points, values, criterion=criterion)
                assert (kept.constant, kept.terms) == (alone.constant, alone.terms)
                assert [r.score for r in kept.rivals()] == [r.score for r in alone.rivals()]


def test_an_equal_search_space_is_the_same_plan_and_another_is_not():
    terms = [(1.0, 0.0), (0.0, 1.0)]
    first = plan_of(LINE, None, Options(space=SearchSpace.of(terms)))
    assert plan_of(LINE, None, Options(space=SearchSpace.of(terms))) is first
    assert plan_of(LINE, None, Options(space=SearchSpace.of(terms[:1]))) is not first
    assert plan_of(LINE, ("n",), Options(space=SearchSpace.of(terms))).names == ("n",)


@pytest.mark.parametrize("form", [list, np.array, lambda points: [list(p) for p in points]])
def test_points_of_any_form_have_a_plan(form):
    first = plan_of(form(GRID), None, Options())
    assert plan_of(form(GRID), None, Options()) is first
    assert first.points.tolist() == [[float(p), float(n)] for p, n in GRID]
