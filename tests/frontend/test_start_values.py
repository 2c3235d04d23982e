"""The start of a loop is what its variable's type keeps of the value: counted by running it."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

TYPES = {"signed char": (8, True), "unsigned char": (8, False), "short": (16, True)}


def kept(value: int, bits: int, *, signed: bool) -> int:
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", TYPES)
def test_a_narrow_variable_keeps_what_it_can(tmp_path: Path, name: str, frontend: str) -> None:
    source = tmp_path / "narrow.c"
    source.write_text(
        f"""double a[70000];
void f(int s) {{
#pragma omp parallel for
  for ({name} i = s; i > 0; i -= 2) a[i] = 1;
}}
"""
    )
    bits, signed = TYPES[name]
    for start in (7, 120, 130, 268, 65_000, 65_541, -3):
        analysis = analyse(requests_for([str(source)]), {"s": start}, frontend=frontend)
        true = len(range(kept(start, bits, signed=signed), 0, -2))
        if not signed and true and kept(start, bits, signed=signed) % 2:
            continue  # 1 - 2 wraps round: it goes on without end
        assert analysis.facts[0].iterations.value == true, start
