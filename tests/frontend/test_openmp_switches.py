"""Macros on which the OpenMP loops of a program depend are assumed to be defined."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS

from regionpredict.frontend import requests_for
from regionpredict.pipeline import Analysis, analyse

LOOP = """\
void scale{number}(int n, double *a) {{
{condition}
#pragma omp parallel for
#endif
  for (int i = 0; i < n; i++) a[i] *= 2.0;
}}
"""


def analysis_of(
    folder: Path, conditions: list[str], frontend: str, defines: tuple[tuple[str, str], ...] = ()
) -> Analysis:
    for number, condition in enumerate(conditions):
        text = LOOP.format(number=number, condition=condition)
        (folder / f"loop{number}.c").write_text(text, encoding="utf-8")
    return analyse(requests_for([str(folder)], defines), {}, frontend=frontend)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "condition",
    [
        "#ifdef USE_OPENMP",
        "#if defined(USE_OPENMP)",
        "#if defined(_OPENMP) && defined USE_OPENMP",
        "#if USE_OPENMP",
        "#ifndef USE_OPENMP\n;\n#else",
        "#if !defined(USE_OPENMP)\n;\n#else",
    ],
)
def test_one_is_named(tmp_path: Path, frontend: str, condition: str) -> None:
    analysis = analysis_of(tmp_path, [condition], frontend)
    assert [fact.region.function for fact in analysis.facts] == ["scale0"]
    assert [remark for remark in analysis.remarks if "USE_OPENMP" in remark] == [
        "USE_OPENMP is assumed to be defined, since OpenMP loops depend on it; confirm it by "
        "-D USE_OPENMP"
    ]
    assert not analysis.program.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "condition",
    ["#ifdef USE_OPENMP_TARGET", "#ifndef USE_OPENMP\n#else\n#endif\n#ifdef BIG", "#ifdef NO_OMP",
     "#if !defined(WITHOUT_X) && defined(FAST)"],
)  # fmt: skip
def test_others_are_not(tmp_path: Path, frontend: str, condition: str) -> None:
    analysis = analysis_of(tmp_path, [condition], frontend)
    assert not analysis.facts
    assert {note.id for note in analysis.program.diagnostics} == {"RP006"}


def test_a_given_macro_needs_no_remark(tmp_path: Path) -> None:
    analysis = analysis_of(
        tmp_path, ["#ifdef USE_OMP", "#ifdef _OPENMP"], "libclang", (("USE_OMP", "1"),)
    )
    assert len(analysis.facts) == 2
    assert not analysis.remarks


def test_a_header_beside_the_sources_counts(tmp_path: Path) -> None:
    """As in programs whose directives are in files of their own."""
    loop = "#ifdef HAVE_OPENMP\n#pragma omp parallel for\n#endif\n"
    (tmp_path / "parallel_for.h").write_text(loop, encoding="utf-8")
    source = 'void f(int n, double *a) {\n#include "parallel_for.h"\n'
    source += "  for (int i = 0; i < n; i++) a[i] = i;\n}\n"
    (tmp_path / "main.c").write_text(source, encoding="utf-8")
    analysis = analyse(requests_for([str(tmp_path)], ()), {}, frontend="libclang")
    assert "HAVE_OPENMP" in "".join(analysis.remarks)


HEADER = """void scale(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2.0 * a[i];
}
"""
PROGRAM = """#if defined(SERIAL)
#include "serial/scale.h"
#elif defined(OMP)
#include "omp/scale.h"
#endif
int main(void) {
  static double a[1000];
  scale(1000, a);
  return 0;
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_header_with_loops_is_included(tmp_path: Path, frontend: str) -> None:
    serial = HEADER.replace("#pragma omp parallel for\n", "")
    for name, text in (("serial", serial), ("omp", HEADER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scale.h").write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    analysis = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend)
    assert [fact.region.function for fact in analysis.facts] == ["scale"]
    assert any(remark.startswith("OMP is assumed to be defined") for remark in analysis.remarks)


CMAKE = """option(SCALE_ENABLE_OPENMP "Enable OpenMP" OFF)
if (NOT SCALE_ENABLE_OPENMP)
  add_definitions(-DSCALE_NO_OPENMP -DSCALE_NO_MPI)
endif ()
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_build_without_openmp_by_default_is_read_with_it(tmp_path: Path, frontend: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    condition = "#if !defined(SCALE_NO_OPENMP) && defined(SCALE_NO_MPI)"
    analysis = analysis_of(tmp_path, [condition], frontend)
    assert [fact.region.function for fact in analysis.facts] == ["scale0"]
    (omitted,) = [remark for remark in analysis.remarks if "SCALE_NO_OPENMP" in remark]
    assert omitted.endswith(
        "CMakeLists.txt defines SCALE_NO_OPENMP, which is omitted for a build with OpenMP; "
        "-D SCALE_NO_OPENMP defines it"
    )
    analysis = analysis_of(tmp_path, [condition], frontend, (("SCALE_NO_OPENMP", "1"),))
    assert not analysis.facts
    assert not any("SCALE_NO_OPENMP" in remark for remark in analysis.remarks)
