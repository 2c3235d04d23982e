"""Numbers that variables hold at the directives of a function whose callers are unknown.

What is said of a trip count is compared with programs that were run, for random functions too.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from reading import FRONTENDS

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

REGION = "\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = 1;\n"
DECLARED = """struct g { int nx, ny; };
struct outer { struct g inside; int k; };
struct g everywhere;
enum { FEW = 3 };
union both { int whole; short half; };
static int fixed = 3, changed = 3, once;
void unseen(void); void seen(int *); int asked(void); int *from_somewhere(void);
static void change(void) { changed++; }
static void put(int *p) { *p = 64; }
static void put_again(int *p) { put(p); }
static void maybe_put(int *p, int c) { if (c) return; *p = 3; }
static void twice(int *p) { if (*p < 100) { *p *= 2; twice(p); } }
"""

HANDED = "double *x, int c, struct g *a, struct g *b, struct outer *whole, int *far"

KNOWN = {
    "int n = 0; for (int k = 0; k < 20; k++) n = n + 5;": 100,
    "int n = 0; for (int k = 0; k < 5; k++) n += 5;": 25,
    "int n = 1; while (n < 1000) n *= 2;": 1024,
    "int n = 100; if (n > 50) n = n / 2; else n = 7;": 50,
    "int t[3] = {10, 20, 30}; int n = t[1];": 20,
    "int t[4] = {10}; t[c] = 5; t[2] = 8; int n = t[2];": 8,
    "int n = 100; int *p = &n; *p = 200;": 200,
    "struct g s = {10, 20}; int n = s.nx * s.ny;": 200,
    "struct g s = {10}; int n = s.ny + 6;": 6,
    "int n = 10; do { n--; } while (n > 3);": 3,
    "int n; put_again(&n);": 64,
    "double len = 100.0, cut = 5.5; int n = (int)(len / cut);": 18,
    "float tenth = 0.1f; int n = tenth > 0.1 ? 11 : 22;": 11,
    "double tenth = 0.1; int n = (int)(tenth * 3 / 0.1);": 3,
    "int n; switch (3) { case 1: n = 5; break; case 3: n = 50; break; default: n = 1; }": 50,
    "int n; switch (c) { case 1: n = 5; break; default: n = 5; }": 5,
    "int n = 0; for (int q = 0; q < 3; q++) for (int r = 0; r < q; r++) n = n + 2;": 6,
    "int n = 9; if (c) n = 4; n = 6;": 6,
    "int n = 9; if (c) return; n = 6;": 6,
    "unsigned n = 3; n = (n - 5) / 1000000000u;": 4,
    "unsigned char u = 250; u += 10; int n = u;": 4,
    "int n = 0; for (int k = 0; k < 9; k++) { if (k == 4) break; if (k % 2) continue; n++; }": 2,
    "int n = fixed * 2;": 6,
    "int n = 7, m = 8; int *p = c ? &m : &n; *p = 9; n = 5;": 5,
    "int n = FEW * 2;": 6,
    "a->nx = 5; b->ny = 6; int n = a->nx;": 5,
    "struct g *p = a; a->nx = 5; p->nx = 8; int n = a->nx;": 8,
    "everywhere.nx = 5; everywhere.ny = 3; int n = everywhere.nx * everywhere.ny;": 15,
    "int t[3] = {1, 2, 3}, k = 0; t[k++] += 4; int n = t[0] + k;": 6,
}  # fmt: skip

UNKNOWN = (
    "int n = 9; if (c) n = 4;",
    "int n = 5; maybe_put(&n, c);",
    "int n = 5; twice(&n); n = n * c;",
    "int n = 5, m = 8; int *q = c ? &m : &n; *q = 9;",
    "int n = 5, m = 8; int *q = &m; if (c) q = &n; *q = 9;",
    "int n = 5; int *p = &n; int **pp = &p; int *q = *pp; *from_somewhere() = 3; seen(q);",
    "int n = 5; seen(&n); n = 6; unseen();",
    "int n = 5; seen(&n); n = 6; *from_somewhere() = 7;",
    "int t[3] = {1, 2, 3}; t[c] = 9; int n = t[2];",
    "int t[3] = {1, 2, 3}; int *p = t + c; *p = 9; int n = t[2];",
    "int t[3] = {1, 2, 3}; seen(t); int n = t[2];",
    "int n = 0x01020304; char *p = (char *)&n; *p = 1;",
    "int n = 0x01020304; void *v = &n; char *p = v; *p = 1;",
    "union both u; u.whole = 70000; u.half = 1; int n = u.whole;",
    "int t[2][2] = {{1, 2}, {3, 4}}; seen(t[1]); unseen(); int n = t[1][0];",
    "int *t = from_somewhere(); t[0] = 5; unseen(); int n = t[0];",
    "int n = 5; switch (c) { case 0: do { n = 1; case 1: n++; } while (asked()); }",
    "volatile int n = 5;",
    "volatile int v = 5; int n = v;",
    "int n = 5; for (int k = 0; k < c; k++) { if (k == 3) { n = 9; break; } }",
    "int n = 5; for (int k = 0; k < c; k++) n = n + 1;",
    "int n = 5; while (asked()) n = 6;",
    "int n = 5; do { if (asked()) break; n = 6; } while (asked());",
    "int n = 5; switch (c) { case 1: n = 6; case 2: n++; }",
    "int n = 1; again: n *= 2; if (n < c) goto again;",
    "int n = changed; change(); n = n + changed;",
    "int n = once * 2; once = 5;",
    "static int n = 5; n++;",
    "int n = 5; if (c && (n = 6)) c = 2;",
    "int n = 5; int m = c ? (n = 6) : 2; c = m;",
    "struct g s = {10, 20}; struct g *p = &s; if (c) p = 0; else p->ny = 3; int n = s.ny;",
    "struct g s = {10, 20}, o = {c, c}; struct g *p = &s; *p = o; int n = s.ny;",
    "a->nx = 5; b->nx = 6; int n = a->nx;",
    "a->nx = 5; b->nx++; int n = a->nx;",
    "a->nx = 5; *far = 6; int n = a->nx;",
    "a->nx = 5; unseen(); int n = a->nx;",
    "a->nx = 5; everywhere.nx = 6; int n = a->nx;",
    "whole->inside.nx = 5; *a = (struct g){1, 2}; int n = whole->inside.nx;",
    "int n = a->nx; a->nx = 5;",
    "int m = a->nx; a->nx = 5; int n = m * 2;",
    "long double d = 0.1L; int n = d * 10 == 1 ? 2 : 3;",
)


def iterations(tmp_path: Path, text: str, frontend: str) -> list[int | None]:
    source = tmp_path / "values.c"
    source.write_text(text)
    analysis = analyse(requests_for([str(source)]), {}, frontend=frontend)
    return [facts.iterations.value for facts in analysis.facts]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_numbers_are_known(tmp_path: Path, frontend: str) -> None:
    functions = (f"void f{at}({HANDED}) {{ {body} {REGION} }}\n" for at, body in enumerate(KNOWN))
    said = iterations(tmp_path, DECLARED + "".join(functions), frontend)
    assert dict(zip(KNOWN, said, strict=True)) == KNOWN


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_differs_from_run_to_run_is_unknown(tmp_path: Path, frontend: str) -> None:
    functions = (f"void f{at}({HANDED}) {{ {body} {REGION} }}\n" for at, body in enumerate(UNKNOWN))
    said = iterations(tmp_path, DECLARED + "".join(functions), frontend)
    assert dict(zip(UNKNOWN, said, strict=True)) == dict.fromkeys(UNKNOWN)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body",
    [
        "int n = 0;\n#pragma omp parallel\n{\n#pragma omp atomic\nn++;\n#pragma omp barrier\n"
        "#pragma omp for\nfor (int i = 0; i < n; i++) x[i] = 1;\n}",
        f"int n = 5;\n#pragma omp parallel private(n)\n{{ n = 7; }}\n n = n * c; {REGION}",
        f"for (int n = 1; n < 9; n = 2 * n + c % 2) {{ {REGION} }}",
        f"int n = 1; for (int k = 0; k < 3; k++) {{ {REGION} n = n * 2; }}",
        f"int n = 1; do {{ {REGION} n = n * 2; }} while (asked());",
        f"int n = 5;\n#pragma omp task\n n = 9;\n {REGION}",
    ],
)
def test_what_threads_and_loops_change_is_unknown(tmp_path: Path, body: str, frontend: str) -> None:
    text = f"{DECLARED}void f(double *x, int c) {{ {body} }}\n"
    assert iterations(tmp_path, text, frontend)[-1] is None


class Writer:
    """Writes random functions that print `n` where their directives are."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.regions = 0

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def value(self, depth: int = 0) -> str:
        if depth > 1 or self.random.random() < 0.4:
            return self.pick("n", "m", "k", "s.a", "s.b", "t[1]", "t[k & 3]", "u", "*r", "fixed",
                             str(self.random.randrange(9)), str(self.random.randrange(300)),
                             self.pick("p", "q", "(int)(d / 1.5)"))  # fmt: skip
        left, right = self.value(depth + 1), self.value(depth + 1)
        return self.pick(
            f"(({left} + {right}) & 1023)", f"(({left} - {right}) % 97)",
            f"((({left}) & 31) * (({right}) & 31))", f"({left}) / {self.random.randrange(1, 5)}",
            f"(({self.test()}) ? {left} : {right})",
        )  # fmt: skip

    def test(self) -> str:
        op = self.pick("<", ">", "==", "!=", "<=")
        known = f"{self.pick('n', 'm', 'k', 't[0]', 'u', 's.a')} {op} {self.random.randrange(40)}"
        return self.pick(known, known, f"p {op} 2", f"{known} && q > 1", f"p > 1 || {known}")

    def block(self, depth: int, *, loop: bool = False) -> str:
        return "".join(self.statement(depth, loop=loop) for _ in range(self.random.randrange(1, 4)))

    def statement(self, depth: int, *, loop: bool = False) -> str:
        kind = self.random.randrange(16 if depth < 3 else 9)
        target = self.pick("n", "n", "m", "t[2]", "t[k & 3]", "s.a", "s.b", "u", "*r")
        if kind < 3:
            return f"{target} = {self.value()};\n"
        if kind == 3:
            return f"{target} {self.pick('+', '-')}= ({self.value()}) & 7;\n"
        if kind == 4:
            return self.pick("r = &n;", "r = &m;", "r = t + (m & 3);", "r = &s.b;",
                             f"r = {self.test()} ? &n : &m;", "d = n + 0.25;", "k = 0;",
                             "") + "\n"  # fmt: skip
        if kind == 5:
            return self.pick("put(&n, m);", "put(r, 5);", "swap(&n, &m);", "swap(r, &n);",
                             "maybe(&n, p);", "o = s; s.a = o.b;", "n = grow(n & 63);",
                             "") + "\n"  # fmt: skip
        if kind == 6:
            return self.region()
        if kind == 7:
            return (
                f"if ({self.test()}) {{ {self.pick('continue;', 'break;') if loop else 'n++;'} }}\n"
            )
        if kind == 8:
            return f"if (({self.test()}) && q == 3) return;\n"
        if kind < 11:
            inner = self.block(depth + 1, loop=loop)
            other = f" else {{ {self.block(depth + 1, loop=loop)} }}" if kind == 10 else ""
            return f"if ({self.test()}) {{ {inner} }}{other}\n"
        inner, name = self.block(depth + 1, loop=True), f"c{self.random.randrange(10**6)}"
        if kind < 14:
            bound = self.pick("3", "5", "(p & 3)", "(m & 3)", "(n & 7)")
            return f"for (int {name} = 0; {name} < {bound}; {name}++) {{ {inner} }}\n"
        if kind == 14:
            return (
                f"{{ int {name} = 0; do {{ {inner} }} while ({name}++ < 3 && ({self.test()})); }}\n"
            )
        cases = "".join(f"case {at}: {self.block(depth + 1)} {self.pick('break;', '')}\n"
                        for at in range(3))  # fmt: skip
        return f"switch (({self.value()}) & 3) {{ {cases} default: m++; }}\n"

    def region(self) -> str:
        self.regions += 1
        return (
            f"AT({self.regions})\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = 1;\n"
        )

    def function(self, number: int) -> str:
        return (
            f"void f{number}(double *x, int p, int q) {{\n"
            "int n = 4, m = 3, k = 1, t[4] = {1, 2}, *r = &m; unsigned char u = 200;\n"
            "double d = 7;\n"
            "struct pair s = {5, 6}, o;\n"
            f"{self.block(0)}{self.block(0)}{self.region()}}}\n"
        )


RANDOM = """#include <stdio.h>
struct pair { int a, b; };
static int fixed = 3;
static void put(int *a, int v) { *a = v & 63; }
static void maybe(int *a, int v) { if (v > 2) return; *a = 11; }
static void swap(int *a, int *b) { int c = *a; *a = *b; *b = c; }
static int grow(int v) { while (v < 40) v += v / 2 + 1; return v; }
"""


def judged(tmp_path: Path, seed: int, frontend: str, functions: int = 40) -> tuple[int, int]:
    """How many trip counts of random functions are known, and how many there are."""
    writer = Writer(seed)
    bodies = "".join(writer.function(number) for number in range(functions))
    said = iterations(tmp_path, f"#define AT(number)\n{RANDOM}{bodies}", frontend)
    shown = bodies.replace("#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = 1;", "")
    calls = "".join(f"for (int p = -1; p < 5; p++) for (int q = 0; q < 4; q++) f{at}(0, p, q);\n"
                    for at in range(functions))  # fmt: skip
    source = tmp_path / "run.c"
    at = '#define AT(number) printf("%d %d\\n", number, n);\n'
    source.write_text(f"{at}{RANDOM}{shown}int main(void) {{ {calls} }}\n")
    subprocess.run(["gcc", "-O0", "-w", "-fwrapv", str(source), "-o", str(tmp_path / "run")],
                   check=True, timeout=600)  # fmt: skip
    printed = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, check=True,
                             timeout=600).stdout  # fmt: skip
    held: dict[int, set[int]] = {}
    for line in printed.splitlines():
        number, value = map(int, line.split())
        held.setdefault(number, set()).add(value)
    numbers = map(int, re.findall(r"AT\((\d+)\)", bodies))
    counts = dict(zip(numbers, said, strict=True))
    for number, values in held.items():
        count = counts[number]
        if count is not None:
            assert {max(value, 0) for value in values} == {max(count, 0)}, (seed, number)
    return sum(counts[number] is not None for number in held), len(held)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]
)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_random_functions(tmp_path: Path, seed: int, frontend: str) -> None:
    known, every = judged(tmp_path, seed, frontend)
    assert every > 30
    assert known * 8 > every
