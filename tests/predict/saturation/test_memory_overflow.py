"""Data beyond a domain's memory: shares by hand, and a curve that the far pages pace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.history.first_touch import Placement
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.machine.quantity import Quantity
from regionpredict.pipeline import analyse, predict_region
from regionpredict.predict import Prediction
from regionpredict.predict.saturation.constants import USABLE_MEMORY
from regionpredict.predict.saturation.memory_overflow import overflow_of, overflowing_share

GIB = 1 << 30
_SOURCE = """
void f(long n, double *restrict a, const double *restrict b)
{
#pragma omp parallel for schedule(%s)
  for (long i = 0; i < n; i++)
    a[i] = a[i] + b[i];
}
"""


def _machine(gib: float | None) -> Machine:
    """Ivy Bridge, two domains of ten cores, each with `gib` of memory that a program can use."""
    machine = load("ivybridge-e5-2660v2")
    size = (
        None
        if gib is None
        else Quantity(gib * GIB / USABLE_MEMORY.value, "B", "assumed", "the test's")
    )
    return replace(machine, memory=replace(machine.memory, size_bytes=size))


def _predict(folder: Path, machine: Machine, *, schedule: str = "static",
             kind: str = "parallel") -> Prediction:  # fmt: skip
    path = folder / "case.c"
    path.write_text(_SOURCE % schedule)
    facts = analyse(requests_for((str(path),), [], [], ""), {"n": 2 * GIB}).facts[0]  # 32 GiB
    return predict_region(facts, machine, placement=Placement(kind, "the test's", False))


def test_share_that_has_no_room() -> None:
    """40 GiB in domains of 32: a fifth of it is beyond, on up to ten threads."""
    machine = _machine(32)
    for threads in (1, 5, 10):
        assert overflowing_share(machine, 40 * GIB, threads) == pytest.approx(1 - 32 / 40)
    # On 11 threads ten of them, in the first domain, touch 10/11 of it; on 20 a half: it fits.
    assert overflowing_share(machine, 40 * GIB, 11) == pytest.approx(1 - 32 / (40 * 10 / 11))
    assert overflowing_share(machine, 40 * GIB, 20) == 0.0
    assert overflowing_share(machine, 32 * GIB - 1, 1) == 0.0
    # More than the node has: no more than the other domain's half can be far.
    assert overflowing_share(machine, 400 * GIB, 1) == 0.5
    assert overflowing_share(_machine(None), 400 * GIB, 1) == 0.0


@given(st.floats(0.01, 0.9), st.integers(1, 128))
def test_parts_of_the_threads_add_up(share: float, crowd: int) -> None:
    """The far part of a static schedule is the end of the index space, cut into equal pieces."""
    spill = overflow_of(share, float(crowd), static=True)
    start = 1.0 - share  # pages of [start, 1) are far; the last piece is [1 - 1/crowd, 1)
    last = (1.0 - max(start, 1.0 - 1.0 / crowd)) * crowd
    assert spill.last == pytest.approx(last, abs=1e-9)
    assert spill.near >= 1.0 and spill.far >= 1.0
    assert overflow_of(share, float(crowd), static=False).last == share


def test_threads_of_each_domain() -> None:
    """Of ten threads and a quarter far, 7.5 work near and 2.5 far at once; at least one each."""
    for static, last in ((True, 1.0), (False, 0.25)):
        assert overflow_of(0.25, 10.0, static=static) == (7.5, 2.5, last)
    assert overflow_of(0.25, 2.0, static=True) == (1.5, 1.0, 0.5)
    assert overflow_of(0.75, 2.0, static=True) == (1.0, 1.5, 1.0)
    assert overflow_of(0.25, 2.0, static=False) == (1.5, 1.0, 0.25)


def test_one_thread_takes_the_mean_latency(tmp_path: Path) -> None:
    """One thread streams 24 of 32 GiB near and 8 far, 1.6 times slower: (0.75 + 0.25 * 1.6) t."""
    whole, part = _machine(None), _machine(24)
    alone = _predict(tmp_path, whole).derivation.points[0]  # type: ignore[union-attr]
    spilled = _predict(tmp_path, part).derivation.points[0]  # type: ignore[union-attr]
    busy = alone.terms["compute"] + alone.terms["cache"]
    assert busy < 0.2 * alone.seconds  # a stream: nearly all of it is memory
    factor = part.memory.remote_latency_cycles.value / part.memory.latency_cycles.value
    expected = 0.75 + 0.25 * factor
    assert spilled.seconds / alone.seconds == pytest.approx(expected, rel=0.05)


def test_the_far_piece_paces_a_static_schedule(tmp_path: Path) -> None:
    """With a quarter far the last of four threads has nothing near, and the others wait for it."""
    static = dict(_predict(tmp_path, _machine(24)).speedup)
    dynamic = dict(_predict(tmp_path, _machine(24), schedule="dynamic,65536").speedup)
    whole = dict(_predict(tmp_path, _machine(None)).speedup)
    assert static[2] < dynamic[2] and static[4] < dynamic[4]
    # Memory of both domains serves ten threads: more than one domain alone gives them.
    assert static[10] > 1.1 * whole[10]


def test_those_that_fill_their_own_domain_may_be_last(tmp_path: Path) -> None:
    """A tenth far, ten threads: nine fill the near domain, which takes 0.9 of what it took."""
    whole = {p.threads: p for p in _predict(tmp_path, _machine(None)).derivation.points}  # type: ignore[union-attr]
    part = {p.threads: p for p in _predict(tmp_path, _machine(32 * 0.9)).derivation.points}  # type: ignore[union-attr]
    assert part[10].seconds / whole[10].seconds == pytest.approx(0.9, rel=0.02)


def test_the_note_says_what_was_assumed(tmp_path: Path) -> None:
    """Said where pages spill, and only there; serial first touch has its own placement."""

    def notes(gib: float | None, kind: str = "parallel") -> str:
        return "; ".join(_predict(tmp_path, _machine(gib), kind=kind).assumed)

    assert "32 GiB of data exceed the 24 GiB of a domain" in notes(24)
    assert "it would swap" in notes(12)
    # two domains have 33 GiB, of which a program gets 31.8
    assert "32 GiB of data, 32 GiB of memory: it would swap" in notes(15.9)
    assert "GiB" not in notes(33) and "GiB" not in notes(None) and "GiB" not in notes(24, "serial")
