"""The section `corrections`, and thresholds of the density model's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for
from regionpredict.machine.check import check
from regionpredict.machine.evidence import evidence_counts
from regionpredict.machine.model import Machine
from regionpredict.machine.reader import read
from regionpredict.pipeline import analyse, predict_region
from regionpredict.predict.curve import Point
from regionpredict.predict.density import area_boundaries, packages_for
from regionpredict.report.machine import machine_document
from regionpredict.report.rendered import rendered

PLAIN = """\
name: mynode
source: data sheet and lscpu
node: {packages: 2, cores_per_package: 2, clock: 2 GHz}
caches:
  - {level: 1, size: 32 KiB, cores: 1, latency: 4}
  - {level: 2, size: 256 KiB, cores: 1, latency: 12}
memory: {latency: 90 ns, bandwidth: {load: {1: 10, 2: 15}}}
"""
CORRECTED = """\
corrections:
  source: compared with measurements
  date: 2024-05-02
  measurements: "a.jsonl"
  programs: 5
  regions: 12
  runs: 60
  factors: {%s}
  cross_validated:
    speedup_error: {before: 0.4, after: 0.2}
"""


def corrected(**factors: float) -> Machine:
    text = ", ".join(f"{name}: {value}" for name, value in factors.items())
    return read(PLAIN + CORRECTED % text, "m.yaml")


def test_a_file_without_corrections_has_factors_of_one() -> None:
    machine = read(PLAIN, "m.yaml")
    assert machine.corrections.factor("compute") == 1.0
    assert machine.corrections.cross_validated == {}


def test_corrections_are_read_with_their_provenance() -> None:
    machine = corrected(compute=1.5, memory=0.8)
    found = machine.corrections
    assert (found.factor("compute"), found.factor("memory")) == (1.5, 0.8)
    assert found.factor("overhead") == 1.0
    assert (found.date, found.measurements) == ("2024-05-02", "a.jsonl")
    assert (found.programs, found.regions, found.runs) == (5, 12, 60)
    assert found.cross_validated["speedup_error"] == (0.4, 0.2)
    assert found.factors["compute"].evidence == "measured"
    assert found.factors["compute"].source == "compared with measurements"
    assert not [one for one in check(machine) if one.key.startswith("corrections")]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("compute: 1.5", "computing: 1.5", 15, "unknown key 'computing'"),
        ("compute: 1.5", "compute: -1", 15, "must be above 0"),
        ("  date: 2024-05-02\n", "", 8, "'date' is missing"),
        ("before: 0.4, after", "before: no, after", 17, "not a number"),
        ("programs: 5", "programs: 5.5", 12, "whole number"),
    ],
)
def test_a_wrong_section_is_one_line_with_its_place(
    old: str, new: str, line: int, message: str
) -> None:
    text = PLAIN + CORRECTED % "compute: 1.5"
    assert old in text
    with pytest.raises(InputError) as caught:
        read(text.replace(old, new), "m.yaml")
    assert str(caught.value).startswith(f"m.yaml:{line}")
    assert message in str(caught.value)


def test_corrections_are_shown_among_the_figures() -> None:
    plain, machine = read(PLAIN, "m.yaml"), corrected(compute=1.5)
    assert "compute, corrected     x 1.5                  measured" in rendered(
        machine_document(machine), "table"
    )
    assert "corrected" not in rendered(machine_document(plain), "table")
    measured = evidence_counts(machine)["measured"]
    assert measured == evidence_counts(plain)["measured"] + 1


def test_a_correction_that_does_harm_or_is_huge_is_told() -> None:
    keys = {one.key for one in check(corrected(overhead=9.0)) if one.severity == "warning"}
    assert "corrections.factors.overhead" in keys
    text = PLAIN + CORRECTED % "compute: 1.5"
    worse = read(text.replace("after: 0.2", "after: 0.6"), "m.yaml")
    assert "corrections.cross_validated.speedup_error" in {one.key for one in check(worse)}


def points(tmp_path: Path, machine: Machine, body: str, **given: int) -> dict[int, Point]:
    source = tmp_path / "case.c"
    source.write_text(body)
    facts = analyse(requests_for((str(source),), [], [], ""), given).facts[0]
    made = predict_region(facts, machine)
    assert made.derivation is not None
    return {point.threads: point for point in made.derivation.points}  # type: ignore[union-attr]


COPY = """void f(long n, double *restrict a, double *restrict b)
{
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = b[i];
}
"""


def test_factors_multiply_the_terms_of_the_saturation_model(tmp_path: Path) -> None:
    plain = points(tmp_path, corrected(), COPY, n=10_000_000)
    # Every part of a region's time twice as long: twice the time, and the same speedup.
    names = ("compute", "cache", "memory", "scattered", "overhead")
    double = points(tmp_path, corrected(**dict.fromkeys(names, 2.0)), COPY, n=10_000_000)
    for threads, point in plain.items():
        assert double[threads].seconds == pytest.approx(2 * point.seconds, rel=1e-6)
        assert double[threads].speedup == pytest.approx(point.speedup, rel=1e-6)
    costly = points(tmp_path, corrected(overhead=3.0), COPY, n=10_000_000)
    assert costly[4].terms["overhead"] == pytest.approx(3 * plain[4].terms["overhead"])
    assert costly[4].terms["memory-bandwidth"] == plain[4].terms["memory-bandwidth"]


def test_own_thresholds_are_the_boundaries_of_the_areas() -> None:
    machine = read(PLAIN + "density: {thresholds: [0.3]}\n", "m.yaml")
    assert area_boundaries(machine) == (0.3,)
    assert area_boundaries(read(PLAIN, "m.yaml")) == (0.5,)
    assert [packages_for(s, 2, (0.3,)) for s in (0.0, 0.299, 0.3, 1.0)] == [1, 1, 2, 2]


@pytest.mark.parametrize("wrong", ["[0.3, 0.6]", "[]", "[1.5]", "0.5", "[x]"])
def test_thresholds_are_one_fewer_than_the_packages(wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        read(PLAIN + f"density: {{thresholds: {wrong}}}\n", "m.yaml")
    assert str(caught.value).startswith("m.yaml:8")
    assert "density.thresholds" in str(caught.value)
