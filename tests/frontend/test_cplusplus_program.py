"""A C++ program of private containers behind accessors, and its loops over plain pointers."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts_compared import compared
from further_cases import further_slow

from regionpredict.analysis.history.first_touch import first_touched
from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Analysis, analyse, predict

PAIRS = Path(__file__).parent / "pairs"
ELEMENTS, NODES, PLANE = 27000, 29791, 961  # of a cube of 30 elements an edge
POINTERS = {"numElem": ELEMENTS, "numNode": NODES, "numSymmX": PLANE, "length": ELEMENTS}
# What the class gives its containers, and no pointer tells.
LENGTHS = {
    **dict.fromkeys(("e[]", "p[]", "q[]", "volo[]", "ss[]"), ELEMENTS),
    **dict.fromkeys(
        ("x[]", "y[]", "xd[]", "yd[]", "xdd[]", "ydd[]", "fx[]", "fy[]", "nodalMass[]"), NODES
    ),
    "nodelist[]": 8 * ELEMENTS,
    "nodeElemStart[]": NODES + 1,
}
# A node has as many corners as the loop over them has iterations.
CORNERS = {"accessors": "hydro_accessors.cpp:137", "pointers": "hydro_pointers.cpp:59"}


def analysed(which: str, given: dict[str, int]) -> Analysis:
    path = PAIRS / f"hydro_{which}.cpp"
    return analyse(requests_for([str(path)]), {**given, CORNERS[which]: 8}, frontend="libclang")


def by_three_names() -> Analysis:
    return analysed(
        "accessors",
        {"numElem": ELEMENTS, "domain.numNode()": NODES, "m_symmX.size()": PLANE},
    )


def test_every_region_has_the_bytes_and_operations_of_its_twin() -> None:
    ours, theirs = compared(by_three_names()), compared(analysed("pointers", POINTERS | LENGTHS))
    assert len(ours) == 11
    for one, other in zip(ours, theirs, strict=True):
        assert one == other
        assert one.status == "complete"
        assert one.iterations in (ELEMENTS, NODES, PLANE)


def test_every_region_has_the_hint_of_its_twin() -> None:
    machine = load("skylake-gold-6148")
    curves = []
    for analysis in (by_three_names(), analysed("pointers", POINTERS | LENGTHS)):
        made = predict(analysis, machine, "saturation", pages=first_touched("parallel"))
        curves.append(list(made.predictions))
    assert len(curves[0]) == 11
    assert all(one.threads is not None for one in curves[0])  # no size stays open
    for ours, theirs in zip(*curves, strict=True):
        assert (ours.packages, ours.threads, ours.bottleneck) == (
            theirs.packages, theirs.threads, theirs.bottleneck,
        )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    further_slow(
        2, ["numElem", "domain.numElem()", "domain.m_numElem", "m_numElem", "CalcPressure:length"]
    ),
)
def test_one_size_goes_by_each_of_its_names(name: str) -> None:
    """Regions of five functions have it: as a local, an argument, and through an argument."""
    facts = analysed("accessors", {name: ELEMENTS}).facts
    functions = [one.region.function for one in facts if one.iterations.value == ELEMENTS]
    assert functions == [
        "InitStress", "IntegrateStress", "CalcPressure", "UpdateVolumes", "CalcTimeConstraint",
    ]  # fmt: skip


def test_the_length_of_a_container_follows_from_the_sizes() -> None:
    facts = by_three_names().facts
    lengths = {
        array.name: one.bindings.values.get(f"{array.name}[]")
        for one in facts
        for array in one.region.arrays
        if array.name.startswith("domain.")
    }
    assert lengths == {
        **{f"domain.m_{name[:-2]}": size for name, size in LENGTHS.items()},
        "domain.m_symmX": None,  # from the number of elements an edge, which nobody gave
        "domain.m_nodeElemCornerList": None,
        "domain.m_v": ELEMENTS,  # new Real_t[numElem]
    }


def test_two_values_for_one_size_are_refused() -> None:
    with pytest.raises(UsageError, match=r"are the same size in .* are given (5|6) and (5|6)"):
        analysed("accessors", {"numElem": 5, "domain.m_numElem": 6})


TEMPLATE = """\
#pragma once
template <class T> struct Box {
  static void fill(T *a, int n, T v) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = v;
  }
};
"""


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_template_is_shown_as_written_only_where_no_file_has_an_instance(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    (tmp_path / "box.h").write_text(TEMPLATE)
    unused, used = names
    (tmp_path / f"{unused}.cc").write_text('#include "box.h"\nvoid f(double *b, int n) {\n'
        "#pragma omp parallel for\n  for (int i = 0; i < n; i++) b[i] = 1;\n}\n")  # fmt: skip
    requests = requests_for([str(tmp_path / f"{unused}.cc")])
    alone = analyse(requests, {}, frontend="libclang").program.regions
    assert [region.function for region in alone] == ["f", "fill"]
    (tmp_path / f"{used}.cc").write_text('#include "box.h"\n'
        "int main() { static double x[1000]; Box<double>::fill(x, 1000, 2.0); }\n")  # fmt: skip
    both = analyse(requests_for([str(tmp_path)]), {}, frontend="libclang").program.regions
    assert [region.function for region in both] == ["f", "Box<double>::fill"]
