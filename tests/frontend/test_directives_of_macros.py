"""Several directives of one macro: all its statements have the place where it is expanded."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

HEAD = """double a[1000], t[3];
void mark(int);
double kernel(double s) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = s;
  return a[3];
}
"""
MARK = '_Pragma("omp parallel") { mark(tag); } '
LOOP = "for (int i = 0; i < 1000; i++) a[i] = tag;"
ALONE = {
    "between two blocks": (MARK + "t[tag] = call; " + MARK, ""),
    "in a block": ("do { " + MARK + "t[tag] = call; " + MARK + "} while (0)", ""),
    "behind a block": ("{ mark(1); } " + MARK + "t[tag] = call;", ""),
    "behind an initializer": ("double z[2] = {1, 2}; " + MARK + "t[tag] = call + z[0];", ""),
    "behind two directives": (
        '_Pragma("omp parallel") _Pragma("omp master") { mark(tag); } t[tag] = call;', "",
    ),
    "around it": ('_Pragma("omp parallel") { mark(1); t[tag] = call; }', "5"),
    "around it and a block": ('_Pragma("omp parallel") { { mark(1); } t[tag] = call; }', "5"),
    "behind one around it": ('_Pragma("omp parallel") { t[tag] = call; } ' + MARK, "5"),
}  # fmt: skip


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize("name", ALONE)
def test_a_parallel_block(tmp_path: Path, name: str, frontend: str) -> None:
    """A call in it is in the parallel region, and so has a team inside another one."""
    macro, nested = ALONE[name]
    text = f"{HEAD}#define PROFILE(tag, call) {macro}\n"
    text += "int main(void) {\n  PROFILE(0, kernel(2.0));\n  return t[0] > 1;\n}\n"
    path = tmp_path / "f.c"
    path.write_text(text)
    (facts,) = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    assert (facts.region.nested_in is not None) == bool(nested)


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_loops_in_a_parallel_block(tmp_path: Path, frontend: str) -> None:
    """The first two share the block's team, the third has its own."""
    inside = '_Pragma("omp for") ' + LOOP + " "
    macro = '_Pragma("omp parallel") { ' + inside * 2 + '} _Pragma("omp parallel for") ' + LOOP
    path = tmp_path / "f.c"
    path.write_text(f"double a[1000];\n#define ALL(tag) {macro}\nvoid f(int k) {{\n  ALL(k)\n}}\n")
    facts = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    assert [one.region.context for one in facts] == ["inside", "inside", "combined"]


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize("more", [0, 1])
def test_a_macro_of_whole_functions(tmp_path: Path, more: int, frontend: str) -> None:
    inside = '_Pragma("omp parallel") { _Pragma("omp for") ' + LOOP + " }"
    macro = f"void name(int tag) {{ {inside} }}"
    macro += f" void name##2(int tag) {{ mark(1); {{ {inside} }} }}" * more
    path = tmp_path / "f.c"
    path.write_text(f"double a[1000];\nvoid mark(int);\n#define MADE(name) {macro}\nMADE(f)\n")
    facts = analyse(requests_for([str(path)]), {}, frontend=frontend).facts
    assert {one.region.context for one in facts} == {"inside"}
