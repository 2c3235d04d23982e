"""Serial loops next to a message under a condition: they count only if the condition decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict

TEXT = """#include <stdio.h>
#include <math.h>
#define N 10000000
double a[N], total, wanted = 3.0;
int level;
static void more(void) { for (int i = 0; i < N; i++) if (a[i] > 9) level++; }
int main(int argc, char **argv) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = i;
  for (int i = 0; i < N; i++) total += a[i];
  @
  return level;
}
"""
LOOP = "for (int i = 0; i < N; i++) if (a[i] > wanted) level++; "
UNDECIDED = "fabs(total / wanted - 1.0) > 1e-9"
FAILED = 'printf("failed\\n"); '
CASES = {
    "a message": (f"if ({UNDECIDED}) {{ {FAILED}{LOOP} }}", False),
    "a message behind it": (f"if ({UNDECIDED}) {{ {LOOP}{FAILED} }}", False),
    "a call": (f"if ({UNDECIDED}) {{ {FAILED} more(); }}", False),
    "no message": (f"if ({UNDECIDED}) {{ {LOOP} }}", True),
    "a message on both sides": (
        f"if ({UNDECIDED}) {{ {FAILED}{LOOP} }} else {{ {FAILED} level = 2; }}",
        True,
    ),
    "a message in the loop": (
        f"if ({UNDECIDED}) {{ {LOOP.replace('level++', FAILED)} }}",
        True,
    ),
    "decided": (f"if (argc == 1) {{ {FAILED}{LOOP} }}", True),
    "no condition": (f"{FAILED}{LOOP}", True),
}


def serial_seconds(folder: Path, statements: str) -> float:
    path = folder / "f.c"
    path.write_text(TEXT.replace("@", statements))
    analysis = analyse(requests_for([str(path)]), {}, defaults=True)
    result = predict(analysis, load("skylake-gold-6148"), "saturation")
    return result.serial[str(path)].at(1)


@pytest.mark.parametrize("name", CASES)
def test_a_loop_beside_a_message(tmp_path: Path, name: str) -> None:
    """The sum takes the same time in all of them."""
    statements, counts = CASES[name]
    alone, own = serial_seconds(tmp_path, ""), serial_seconds(tmp_path, statements)
    assert alone > 0.001
    if counts:
        assert own > 1.3 * alone
    else:
        assert own == pytest.approx(alone)
