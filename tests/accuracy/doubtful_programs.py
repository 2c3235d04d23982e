"""Random small programs of the kinds that raise doubts: locks, atomics, races, nested parallel
regions, calls of unseen functions and skewed loops.

`program(seed)` is one parallel loop in a function `work`; the same seed gives the same text. The
program repeats the loop and prints the seconds of its fastest run, so that `measure` needs a moment
of a quiet host only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple


class Drawn(NamedTuple):
    """One program: `text`, and `beside` it the functions of another file that nobody reads."""

    seed: int
    kind: str
    text: str
    beside: str


class _Loop(NamedTuple):
    """A parallel loop of `work`: what is declared before it, its directive and its body, and what
    `main` sets before all."""

    before: str
    directive: str
    body: str
    setting: str = ""
    beside: str = ""


HEAD = """#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define N {iterations}
#define M {length}
double x[N], y[N + M];
int idx[N], row[N + 1];
"""
MAIN = """int main(void) {{
  for (int i = 0; i < N; i++) {{ x[i] = 1.0 + i % 7; idx[i] = (int)((i * 2654435761u) % M); }}
{setting}
  double least = 1e9, end = omp_get_wtime() + 0.5;
  for (int run = 0; run < 40 && (run < 3 || omp_get_wtime() < end); run++) {{
    double begun = omp_get_wtime();
    work();
    double spent = omp_get_wtime() - begun;
    if (spent < least) least = spent;
  }}
  printf("%.9f %g\\n", least, y[M / 2]);
  return 0;
}}
"""


def _arithmetic(choose: random.Random, most: int = 400) -> str:
    """Work of one iteration that no compiler takes away: a chain of up to `most` steps."""
    steps = choose.choice([2, 8, 30, 100, most])
    return f"double v = x[i]; for (int k = 0; k < {steps}; k++) v = v * 0.999 + 0.5;"


def _often(choose: random.Random) -> str:
    """In which iterations the threads meet."""
    period = choose.choice([1, 1, 2, 5, 20])
    return f"if (i % {period} == 0) " if period > 1 else ""


def _lock(choose: random.Random) -> _Loop:
    work, when = _arithmetic(choose), _often(choose)
    return _Loop(
        "omp_lock_t lock; double total;", "parallel for",
        f"{work} {when}{{ omp_set_lock(&lock); total += v; omp_unset_lock(&lock); }}",
        "omp_init_lock(&lock);",
    )  # fmt: skip


def _mutex(choose: random.Random) -> _Loop:
    work, when = _arithmetic(choose), _often(choose)
    inner = choose.choice(["total += v;", "for (int k = 0; k < 20; k++) total += v * k;"])
    return _Loop(
        "pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; double total;", "parallel for",
        f"{work} {when}{{ pthread_mutex_lock(&lock); {inner} pthread_mutex_unlock(&lock); }}",
    )  # fmt: skip


def _lock_each(choose: random.Random) -> _Loop:
    work = _arithmetic(choose)
    return _Loop(
        "omp_lock_t locks[M];", "parallel for",
        f"{work} int at = idx[i]; "
        "omp_set_lock(&locks[at]); y[at] += v; omp_unset_lock(&locks[at]);",
        "for (int i = 0; i < M; i++) omp_init_lock(&locks[i]);",
    )  # fmt: skip


def _two_locks(choose: random.Random) -> _Loop:
    work = _arithmetic(choose)
    return _Loop(
        "omp_lock_t one, other; double odd, even;", "parallel for",
        f"{work} if (i % 2) {{ omp_set_lock(&one); odd += v; omp_unset_lock(&one); }} "
        "else { omp_set_lock(&other); even += v; omp_unset_lock(&other); }",
        "omp_init_lock(&one); omp_init_lock(&other);",
    )  # fmt: skip


def _atomic(choose: random.Random) -> _Loop:
    work, when = _arithmetic(choose), _often(choose)
    return _Loop(
        "double total; int count;", "parallel for",
        choose.choice([
            f"{work} {when}{{\n#pragma omp atomic\n total += v; }}",
            f"{work} y[i] = v; {when}__sync_fetch_and_add(&count, 1);",
            f"{work} y[i] = v; {when}__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);",
        ]),
    )  # fmt: skip


def _atomic_anywhere(choose: random.Random) -> _Loop:
    return _Loop("", "parallel for", f"{_arithmetic(choose)}\n#pragma omp atomic\n y[idx[i]] += v;")


def _critical(choose: random.Random) -> _Loop:
    work, when = _arithmetic(choose), _often(choose)
    return _Loop(
        "double total;", "parallel for",
        f"{work} {when}{{\n#pragma omp critical\n {{ total += v; if (total > 1e9) total = 0; }} }}",
    )  # fmt: skip


def _hidden_lock(choose: random.Random) -> _Loop:
    return _Loop("", "parallel for", f"{_arithmetic(choose)} y[i] = v + rand();")


def _shared_scalar(choose: random.Random) -> _Loop:
    work = _arithmetic(choose, 100)
    return _Loop(
        "double t; int at;", "parallel for",
        choose.choice([
            f"{work} t = v * 2.0; y[i] = t + 1.0;",
            f"{work} at = idx[i]; t = v; y[at] = t * 0.5;",
            "for (int k = 0; k < 20; k++) { t = x[i] * k; y[i] += t; }",
        ]),
    )  # fmt: skip


def _race_anywhere(choose: random.Random) -> _Loop:
    update = choose.choice(["y[idx[i]] += v;", "y[idx[i]] = v;"])
    return _Loop("", "parallel for", f"{_arithmetic(choose)} {update}")


def _in_turn(choose: random.Random) -> _Loop:
    work = _arithmetic(choose)
    return _Loop(
        "double own[64]; int counts[64];",
        choose.choice(["parallel for", "parallel for schedule(static)"]),
        choose.choice([
            f"{work} own[omp_get_thread_num()] += v;",
            f"{work} y[i] = v; counts[omp_get_thread_num()]++;",
            "for (int k = 0; k < 50; k++) own[omp_get_thread_num()] += x[i] * k;",
        ]),
    )  # fmt: skip


def _neighbours(choose: random.Random) -> _Loop:
    return _Loop("", "parallel for schedule(static, 1)", f"{_arithmetic(choose)} y[i] = v;")


def _nested(choose: random.Random) -> _Loop:
    inner = choose.choice([4, 40, 400])
    return _Loop(
        f"double z[N / {inner} + 1][{inner}];", "parallel for",
        f"if (i < N / {inner}) {{\n#pragma omp parallel for\n for (int k = 0; k < {inner}; k++) "
        "z[i][k] = z[i][k] * 0.5 + x[i]; }",
        choose.choice(["", "omp_set_max_active_levels(1);", "omp_set_max_active_levels(2);"]),
    )  # fmt: skip


def _unseen(choose: random.Random) -> _Loop:
    body = choose.choice([
        "return v * 2.0;",
        "for (int k = 0; k < 300; k++) v = v * 0.9 + 1.0; return v;",
        "static double kept; kept = v; return kept;",
        "double *p = malloc(64); p[0] = v; v = p[0] + 1; free(p); return v;",
        "double r;\n#pragma omp critical\n r = v + 1; return r;",
    ])  # fmt: skip
    head = "#include <stdlib.h>\n"
    return _Loop(
        "double unseen(double);", "parallel for", f"{_arithmetic(choose)} y[i] = unseen(v);",
        beside=f"{head}double unseen(double v) {{ {body} }}\n",
    )  # fmt: skip


def _rows(choose: random.Random) -> _Loop:
    """Rows of a sparse matrix: alike, a power law, sorted, or some long ones."""
    length = choose.choice([
        "20", "1 + 400000 / (10 * i + 1000)", "i < N / 20 ? 300 : 5", "i % 500 ? 8 : 2000",
        "1 + i * 40 / N", "40 - i * 40 / N",
    ])  # fmt: skip
    schedule = choose.choice(["", "", " schedule(dynamic, 64)"])
    return _Loop(
        "", f"parallel for{schedule}",
        "double s = 0; for (int e = row[i]; e < row[i + 1]; e++) s += x[e % N] * 0.5; y[i] = s;",
        f"row[0] = 0; for (int i = 0; i < N; i++) row[i + 1] = row[i] + ({length});",
    )  # fmt: skip


def _searches(choose: random.Random) -> _Loop:
    """A loop that ends where the data say."""
    stop = choose.choice(["idx[i] % 50", "i < N / 10 ? 400 : 4", "30"])
    return _Loop(
        "", "parallel for",
        f"int k = 0, most = {stop}; double v = x[i]; while (k < most) {{ v = v * 0.9 + 1; k++; }} "
        "y[i] = v;",
    )  # fmt: skip


def _triangle(choose: random.Random) -> _Loop:
    width = choose.choice([1, 4])
    schedule = choose.choice(["", " schedule(dynamic, 16)", " schedule(static, 8)"])
    return _Loop(
        "", f"parallel for{schedule}",
        f"double s = 0; for (int k = 0; k < i / {width} && k < 2000; k++) s += x[k]; y[i] = s;",
    )  # fmt: skip


def _plain(choose: random.Random) -> _Loop:
    return _Loop("", "parallel for", f"{_arithmetic(choose)} y[i] = v;")


KINDS: dict[str, Callable[[random.Random], _Loop]] = {
    "lock": _lock, "mutex": _mutex, "lock an element": _lock_each, "two locks": _two_locks,
    "atomic": _atomic, "atomic anywhere": _atomic_anywhere, "critical": _critical,
    "hidden lock": _hidden_lock, "shared variable": _shared_scalar, "race anywhere": _race_anywhere,
    "own counter": _in_turn, "neighbours": _neighbours, "nested": _nested, "unseen call": _unseen,
    "rows": _rows, "search": _searches, "triangle": _triangle, "plain": _plain,
}  # fmt: skip


def program(seed: int) -> Drawn:
    """The program of a seed; neighbouring seeds are of different kinds."""
    choose = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    loop = KINDS[kind](choose)
    iterations = choose.choice([300, 1000, 3000, 10000, 30000])
    length = choose.choice([64, 1024, 16384])
    text = HEAD.format(iterations=iterations, length=length)
    text += (
        f"{loop.before}\nvoid work(void) {{\n#pragma omp {loop.directive}\n"
        f"  for (int i = 0; i < N; i++) {{\n    {loop.body}\n  }}\n}}\n"
    )
    text += MAIN.format(setting="  " + loop.setting)
    return Drawn(seed, kind, text, loop.beside)
