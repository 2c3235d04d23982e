"""Loops of unsigned variables that begin with a negative number: against C that is run."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from texts import facts_of_texts

TYPES = {"unsigned": 32, "unsigned long": 64, "unsigned short": 16, "unsigned char": 8,
         "int": 0, "long": 0}  # fmt: skip


def loops(seed: int, number: int) -> list[tuple[str, str, int, int, int]]:
    """(type, comparison, start, bound, step) of loops that end soon."""
    draw = random.Random(seed)
    made = []
    while len(made) < number:
        name, comparison = draw.choice([*TYPES]), draw.choice(["<", "<="])
        start, bound, step = draw.randint(-20, 20), draw.randint(0, 40), draw.randint(1, 3)
        made.append((name, comparison, start, bound, step))
    return made


def text_of(cases: list[tuple[str, str, int, int, int]]) -> str:
    functions, calls = [], []
    for at, (name, comparison, start, bound, step) in enumerate(cases):
        functions.append(
            f"void f{at}(int s, {'int' if name in ('int', 'long') else name} n) {{\n"
            f"#pragma omp parallel for\n"
            f"for ({name} i = s; i {comparison} n; i += {step}) {{ a[i & 63] = 1; TICK; }}\n}}"
        )
        calls.append(f"f{at}({start}, {bound}); TELL;")
    return (
        "double a[64];\n" + "\n".join(functions) + "\nint main(void) {\n" + "\n".join(calls) + "}"
    )


@pytest.mark.compiler
@pytest.mark.parametrize("seed", [1, 2])
def test_iterations_as_the_program_has_them(tmp_path: Path, seed: int) -> None:
    cases = loops(seed, 24)
    text = text_of(cases)
    source = tmp_path / "run.c"
    head = "#include <stdio.h>\nstatic int ticks;\n#define TICK ticks++\n"
    head += '#define TELL do { printf("%d\\n", ticks); ticks = 0; } while (0)\n'
    source.write_text(head + text)
    subprocess.run(["cc", "-o", tmp_path / "run", source], check=True)
    told = subprocess.run([tmp_path / "run"], check=True, capture_output=True, text=True).stdout
    plain = text.replace(" TICK;", "").replace(" TELL;", "")
    known = [facts.iterations.value for facts in facts_of_texts(plain)]
    assert [value for value in known if value is not None]
    for case, value, ran in zip(cases, known, map(int, told.split()), strict=True):
        assert value in (None, ran), case
