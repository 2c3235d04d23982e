"""Models with the prediction's terms: factors that are known come back, and tell where it parts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.compare.term_models import GROUPS, SizedTime, term_model
from regionpredict.report.rendered import rendered
from regionpredict.report.term_models import term_models_document

SIZES = (100, 200, 400, 800, 1600)


def _terms(n: int, p: int) -> dict[str, float]:
    """A cubic loop over p threads whose rows come from memory, and a barrier."""
    return {
        "compute": 1e-9 * n**3 / p, "imbalance": 0.0, "cache": 0.0,
        "memory-bandwidth": 2e-8 * n**2, "overhead": 5e-6 * p, "serialization": 0.0,
    }  # fmt: skip


def _times(factors: dict[str, float], noise: float = 0.0, seed: int = 1) -> list[SizedTime]:
    dice = random.Random(seed)
    return [
        SizedTime(float(n), p, dice.lognormvariate(0, noise) * sum(
            factors[name] * sum(_terms(n, p)[term] for term in terms)
            for name, terms in GROUPS.items()
        ), _terms(n, p))
        for n in SIZES for p in (1, 2, 4)
    ]  # fmt: skip


def test_a_right_prediction_has_factors_of_one() -> None:
    model = term_model("f.c:3", _times(dict.fromkeys(GROUPS, 1.0)))
    assert model is not None
    assert dict(model.factors) == pytest.approx(dict.fromkeys(GROUPS, 1.0), rel=1e-6)
    assert model.parts_at is None
    assert model.held_out is not None
    assert model.held_out.terms == pytest.approx(0.0, abs=1e-6)
    assert model.held_out.prediction == pytest.approx(0.0, abs=1e-12)


@given(st.floats(0.5, 3.0), st.floats(0.5, 3.0), st.floats(0.5, 3.0))
def test_known_factors_come_back(compute: float, memory: float, overhead: float) -> None:
    known = {"compute": compute, "memory": memory, "overhead": overhead}
    model = term_model("f.c:3", _times(known))
    assert model is not None
    assert dict(model.factors) == pytest.approx(known, rel=0.02)
    assert model.error < 0.01
    assert model.held_out is not None
    assert model.held_out.terms < 0.01


def test_all_times_as_long_again_is_one_common_factor() -> None:
    model = term_model("f.c:3", _times(dict.fromkeys(GROUPS, 8.0)))
    assert model is not None
    assert dict(model.factors) == pytest.approx(dict.fromkeys(GROUPS, 8.0), rel=1e-6)


def test_terms_known_in_advance_beat_a_search_and_the_prediction_alone() -> None:
    known = {"compute": 1.7, "memory": 1.3, "overhead": 1.0}
    terms, search, alone = [], [], []
    for seed in range(20):
        model = term_model("f.c:3", _times(known, noise=0.05, seed=seed))
        assert model is not None
        assert model.held_out is not None
        terms.append(model.held_out.terms)
        search.append(model.held_out.search or 0.0)
        alone.append(model.held_out.prediction)
    assert sum(terms) < sum(search)
    assert sum(terms) < 0.5 * sum(alone)


def test_where_they_part_is_told() -> None:
    # Only the barrier is off, by ten: small sizes part, on many threads first.
    model = term_model("f.c:3", _times({"compute": 1.0, "memory": 1.0, "overhead": 10.0}))
    assert model is not None
    assert model.most_off == "overhead"
    # 100 on 1 thread: 1e-3 + 2e-4 + 5e-6 against 1e-3 + 2e-4 + 5e-5: 4 % off; on 4 threads:
    # 2.5e-4 + 2e-4 + 2e-5 against 2.5e-4 + 2e-4 + 2e-4: 38 % off. Nothing is off by half.
    assert model.parts_at is None
    far = term_model("f.c:3", _times({"compute": 1.0, "memory": 1.0, "overhead": 20.0}))
    assert far is not None
    assert far.parts_at == (100.0, 4)  # 4.5e-4 + 4e-4 against 4.7e-4: 1.81
    text = rendered(term_models_document([far]), "table")
    assert "f.c:3: at 100 or more iterations on 4 threads, most in overhead" in text


def test_one_size_is_no_model_and_two_leave_nothing_out() -> None:
    times = _times(dict.fromkeys(GROUPS, 1.0))
    assert term_model("f.c:3", [time for time in times if time.iterations == 100]) is None
    two = term_model("f.c:3", [time for time in times if time.iterations <= 200])
    assert two is not None
    assert two.held_out is None
    (entry,) = term_models_document([two]).record()["models"]
    assert entry["held_out"] is None
    assert entry["iterations"] == [100.0, 200.0]
