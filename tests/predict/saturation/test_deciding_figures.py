"""Assumed figures of a machine that decide a prediction are listed and lower its confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.machine.evidence import figures
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import Prediction
from regionpredict.predict.curve import Point, SaturationDerivation
from regionpredict.predict.saturation.constants import (
    BANDWIDTH_SPREAD,
    CACHE_SPREAD,
    CORE_SPREAD,
    DECIDING_SHARE,
    LATENCY_SPREAD,
    LINK_SPREAD,
    OPENMP_SPREAD,
)
from regionpredict.predict.saturation.deciding_figures import deciding_figures, spreads_of
from regionpredict.predict.saturation.region_time import RegionTime, WorkTime
from regionpredict.report.document_text import document_text
from regionpredict.report.explanation import region_document
from regionpredict.workload import SynchronisationCounts

COPY = """
void copy(int n, double *a, double *b)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


def _predicted(folder: Path, machine: Machine, n: int = 50_000_000) -> Prediction:
    path = folder / "copy.c"
    path.write_text(COPY)
    analysis = analyse(requests_for((str(path),)), {"n": n})
    return predict(analysis, machine, "saturation").predictions[0]


def _with_memory_of(machine: Machine, evidence: str) -> Machine:
    curves = {
        name: replace(curve, evidence=evidence, source="said so")
        for name, curve in machine.memory.bandwidth.items()
    }
    return replace(machine, memory=replace(machine.memory, bandwidth=curves))


def test_the_bandwidth_that_limits_a_copy_is_told(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    sure = _predicted(tmp_path, _with_memory_of(machine, "measured"))
    unsure = _predicted(tmp_path, _with_memory_of(machine, "assumed"))
    assert sure.bottleneck == unsure.bottleneck == "memory-bandwidth"
    assert sure.speedup == unsure.speedup
    added = set(unsure.assumed) - set(sure.assumed)
    assert [line for line in added if line.startswith("memory.bandwidth.")] == list(added)
    assert len(added) == 1
    assert isinstance(sure.derivation, SaturationDerivation)
    assert isinstance(unsure.derivation, SaturationDerivation)
    assert sure.derivation.spreads == {}
    assert unsure.derivation.spreads == {"memory-bandwidth": BANDWIDTH_SPREAD.value}
    # All but all of the time is memory's on any number of threads: which to take hangs on nothing.
    assert unsure.confidence == sure.confidence and not unsure.doubts
    assert unsure.band == sure.band


def _with_openmp(machine: Machine, evidence: str) -> Machine:
    tables = machine.overheads
    known = {name: replace(getattr(tables, name), evidence=evidence, source="said so")
             for name in ("fork_join", "barrier")}  # fmt: skip
    return replace(machine, overheads=replace(tables, **known))


def test_a_hint_is_less_sure_where_an_assumed_figure_decides_between_two_choices(
    tmp_path: Path,
) -> None:
    """Of small loops the fork is much of the time, of which more threads take more; of a large one
    it is nothing on any number of threads."""
    machine = load("skylake-gold-6148")

    def told(evidence: str, n: int) -> tuple[float, float]:
        made = _predicted(tmp_path, _with_openmp(machine, evidence), n)
        assert isinstance(made.derivation, SaturationDerivation)
        assert any(line.startswith("openmp.") for line in made.assumed) == (
            evidence == "assumed" and made.bottleneck == "overhead"
        )
        return made.confidence, made.derivation.chance

    small = (1000, 10_000, 20_000, 70_000)
    sure, unsure = ([told(evidence, n) for n in small] for evidence in ("measured", "assumed"))
    for known, doubted in zip(sure, unsure, strict=True):
        assert doubted[0] <= known[0] and doubted[1] < known[1]
    assert sum(doubted for doubted, _ in unsure) < sum(known for known, _ in sure)
    assert told("measured", 50_000_000) == told("assumed", 50_000_000)


def test_explain_says_what_the_doubt_costs(tmp_path: Path) -> None:
    machine = _with_openmp(load("skylake-gold-6148"), "assumed")
    made = _predicted(tmp_path, machine, 10_000)
    assert isinstance(made.derivation, SaturationDerivation)
    (figures,) = (known for known in made.doubts if known.id == "figures")
    line = f"  {100 * figures.factor:3.0f} %  figures: {figures.reason}"
    assert figures.reason == "the machine's figures of its overhead are uncertain"
    for prediction, shown in ((made, True), (replace(made, doubts=()), False)):
        assert isinstance(prediction.derivation, SaturationDerivation)
        text = document_text(region_document(prediction, machine))
        assert (line in text.splitlines()) == shown


def test_how_far_off_the_figures_of_a_term_may_be() -> None:
    """An assumed figure by its kind, a measured one by what was seen; of several the least sure."""
    known = load("skylake-gold-6148")
    bandwidth = replace(known.caches[2].bytes_per_cycle, evidence="assumed")
    caches = [replace(cache, bytes_per_cycle=bandwidth) for cache in known.caches]
    memory = {"latency_cycles", "remote_latency_cycles"}
    assumed = {name: replace(getattr(known.memory, name), evidence="assumed") for name in memory}
    width = replace(known.processor.issue_width, evidence="assumed")
    machine = replace(
        _with_openmp(_with_memory_of(known, "assumed"), "assumed"),
        caches=tuple(caches), processor=replace(known.processor, issue_width=width),
    )  # fmt: skip
    machine = replace(machine, memory=replace(machine.memory, **assumed))
    terms = {
        "compute": ["processor.issue_width"],
        "cache": ["caches[1].bytes_per_cycle", "memory.latency"],
        "memory-bandwidth": ["memory.bandwidth.load", "memory.remote_latency"],
        "overhead": ["openmp.fork_join"],
    }
    spreads = {
        "compute": CORE_SPREAD, "cache": CACHE_SPREAD, "memory-bandwidth": LINK_SPREAD,
        "overhead": OPENMP_SPREAD,
    }  # fmt: skip
    assert spreads_of(machine, terms) == {term: own.value for term, own in spreads.items()}
    single = {"caches[0].bytes_per_cycle": CORE_SPREAD, "memory.latency": LATENCY_SPREAD,
              "memory.bandwidth.load": BANDWIDTH_SPREAD}  # fmt: skip
    for key, own in single.items():
        assert spreads_of(machine, {"cache": [key]}) == {"cache": own.value}
    sure = _with_openmp(known, "measured")
    assert spreads_of(sure, {"overhead": ["openmp.fork_join"]}) == {}
    unsettled = replace(sure, spread={"openmp.fork_join": 0.98})
    assert spreads_of(unsettled, {"overhead": ["openmp.fork_join"]}) == {
        "overhead": pytest.approx(0.5)
    }


def test_figures_of_other_terms_say_nothing(tmp_path: Path) -> None:
    """A copy from memory does not depend on what an addition takes."""
    machine = load("skylake-gold-6148")
    slow = replace(machine.operations["fp_add"].throughput_cycles, evidence="assumed")
    changed = {**machine.operations,
               "fp_add": replace(machine.operations["fp_add"], throughput_cycles=slow)}  # fmt: skip
    prediction = _predicted(tmp_path, replace(machine, operations=changed))
    assert not any(line.startswith("operations.") for line in prediction.assumed)


def test_where_no_line_is_claimed_by_reading_a_copy_moves_16_bytes(tmp_path: Path) -> None:
    """ThunderX2 reads none of the lines that a copy writes; its table is that of the same copy."""
    machine = load("thunderx2")
    assert machine.processor.write_allocate.value == 0
    prediction = _predicted(tmp_path, machine)
    memory = prediction.derivation.levels[-1]
    assert memory.total == pytest.approx(16 * 50_000_000, rel=1e-3)
    one = replace(machine.processor.write_allocate, value=1.0)
    other = replace(machine, processor=replace(machine.processor, write_allocate=one))
    allocating = _predicted(tmp_path, other)
    assert allocating.derivation.levels[-1].total == pytest.approx(24 * 50_000_000, rel=1e-3)


# -- terms made up by hand ------------------------------------------------------------------------

MACHINE = load("skylake-gold-6148")


def _decided(
    bottleneck: str, *, cached: float = 0.0, late: float = 0.0, lines: float = 0.0,
    pages: float = 0.0, kind: str = "static", far: bool = False, forks: bool = False,
    waits: bool = False, reductions: int = 0, in_turn: tuple[str, ...] = (), **counts: float,
) -> tuple[str, ...]:  # fmt: skip
    """The figures on four threads, of work that waits so long for caches and for memory."""
    time = SimpleNamespace(
        machine=MACHINE,
        synchronisation=SynchronisationCounts(forks, waits, reductions, 0.0, counts),
        schedule=SimpleNamespace(kind=kind),
        far=far,
        core=SimpleNamespace(figures=("operations.fp_add.latency",)),
        loops=SimpleNamespace(
            at=lambda threads: WorkTime(0.0, cached, late, late, 1.0, 1.0, 1.0),
        ),
        transfers=SimpleNamespace(
            at=lambda threads: SimpleNamespace(lines=lines, pages=pages),
            in_one_line=in_turn,
        ),
        traffic=SimpleNamespace(sources=lambda threads: (2,)),
    )
    point = Point(4, 1.0, 1.0, bottleneck, {}, 1.0, 1.0)
    return deciding_figures(cast("RegionTime", time), point, bottleneck)


@pytest.mark.parametrize(
    ("cached", "late", "lines", "deciding"),
    [
        (4.0, 0.0, 0.0, "caches[2]"),
        (4.0, 3.0, 0.0, "caches[2]"),  # a second of four threads' for lines of caches, 3/4 late
        (4.0, 4.0, 0.0, "memory.latency"),
        (4.0, 5.0, 0.0, "memory.latency"),
        (4.0, 3.0, 0.9, "caches[2]"),
        (4.0, 3.0, 1.0, "openmp.line_transfer"),
        (3.0, 4.0, 0.9, "memory.latency"),
        (3.0, 4.0, 1.0, "openmp.line_transfer"),
    ],
)
def test_the_largest_of_three_waits(
    cached: float, late: float, lines: float, deciding: str
) -> None:
    """One thread of four: a quarter of the waits for caches and memory, all of its own lines."""
    assert _decided("cache", cached=cached, late=late, lines=lines)[0].startswith(deciding)


@pytest.mark.parametrize(
    ("changes", "figures"),
    [
        (
            {"forks": True, "waits": True},
            {"fork_join"},
        ),  # the barrier at its end is a part of the fork
        ({"waits": True}, {"barrier"}),
        ({"forks": True, "barrier": 2.0}, {"fork_join", "barrier"}),
        ({"reductions": 1}, {"reduction"}),
        ({"kind": "dynamic"}, {"dynamic_chunk"}),
        ({"pages": 1e-9}, {"first_touch", "first_touch_beyond"}),
        ({}, set()),
    ],
)
def test_what_the_overhead_is_made_of(changes: dict[str, float], figures: set[str]) -> None:
    found = _decided("overhead", **changes)  # type: ignore[arg-type]
    assert set(found) == {f"openmp.{name}" for name in figures}


def test_what_waits_for_its_turn() -> None:
    assert _decided("serialization", atomic=3.0) == ("openmp.atomic",)
    assert _decided("serialization", critical=2.0) == ("openmp.critical",)
    assert _decided("serialization", in_turn=("s",)) == ("openmp.atomic",)
    assert _decided("serialization", critical=2.0, atomic=3.0) == (
        "openmp.critical", "openmp.atomic",
    )  # fmt: skip


def test_the_latency_of_another_domain_where_one_holds_the_data() -> None:
    spread, alone = (_decided("memory-bandwidth", far=far) for far in (False, True))
    assert alone == (*spread, "memory.remote_latency", "memory.link")
    assert all(key.startswith("memory.bandwidth.") for key in spread)


def test_terms_that_take_much_decide_beside_the_bottleneck() -> None:
    share = DECIDING_SHARE.value
    for part, both in ((share, True), (0.99 * share, False)):
        terms = {"compute": part, "serialization": 1.0 - part}
        time = SimpleNamespace(
            machine=MACHINE,
            synchronisation=SynchronisationCounts(False, False, 0, 0.0, {"atomic": 1.0}),
            core=SimpleNamespace(figures=("processor.issue_width",)),
        )
        point = Point(4, 1.0, 1.0, "serialization", terms, 1.0, 1.0)
        found = deciding_figures(cast("RegionTime", time), point, "serialization")
        assert found == ("openmp.atomic", *(["processor.issue_width"] if both else []))
        assert deciding_figures(cast("RegionTime", time), point, "imbalance") == ()


def test_a_machine_measured_on_a_busy_host_is_a_doubt(tmp_path: Path) -> None:
    """Where most of its figures did not settle, whichever decide."""
    machine = load("skylake-gold-6148")
    measured = [key for key, figure in figures(machine) if figure.evidence == "measured"]
    assert len(measured) > 10

    def ids(settled: int) -> list[str]:
        spread = {key: 0.01 if at < settled else 0.5 for at, key in enumerate(measured)}
        return [known.id for known in _predicted(tmp_path, replace(machine, spread=spread)).doubts]

    assert "calibration" in ids(2)
    assert "calibration" not in ids(len(measured) - 2)
