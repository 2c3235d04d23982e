"""Names of the C library whose header a missing header would have included."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, program_of

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

TEXT = """\
#include "not_there.h"
void f(int32_t *a, uint8_t *b, size_t n, bool *ok) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    a[i] = b[i] + SHRT_MAX;
    ok[i] = true;
  }
}
"""


def bytes_of_arrays(folder: Path, text: str, frontend: str) -> dict[str, int]:
    program = program_of(folder, text, frontend)
    assert {note.id for note in program.diagnostics} <= {"RP001"}
    (region,) = program.regions
    return {array.name: array.element_bytes for array in region.arrays}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_they_have_their_types(tmp_path: Path, frontend: str) -> None:
    assert bytes_of_arrays(tmp_path, TEXT, frontend) == {"a": 4, "b": 1, "ok": 1}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "own", ["typedef int bool;\n#define true 1\n", "typedef enum { false, true } bool;\n"]
)
def test_own_declarations_remain(tmp_path: Path, frontend: str, own: str) -> None:
    text = TEXT.replace("\n", f"\n{own}", 1)
    assert bytes_of_arrays(tmp_path, text, frontend) == {"a": 4, "b": 1, "ok": 4}


def test_cpp_has_them_too(tmp_path: Path) -> None:
    path = tmp_path / "f.cc"
    path.write_text(TEXT)
    (region,) = analyse(requests_for([str(path)]), {}).program.regions
    assert {array.name: array.element_bytes for array in region.arrays} == {"a": 4, "b": 1, "ok": 1}
