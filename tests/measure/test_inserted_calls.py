"""What an instrumented program counts, held against what it counts itself."""

from __future__ import annotations

import random

import pytest
from measured_programs import Measured

BASIC = """
#include <stdio.h>
#include <stdlib.h>
#define SIZE 100
#define SHARED_LOOP _Pragma("omp parallel for schedule(static, 4)")
static double a[SIZE], b[SIZE];
static void orphan(int n) {
  #pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 1;
}
int main(void) {
  int i, n = SIZE, sum = 0;
  #pragma omp parallel for \\
      schedule(dynamic, 8)  \\
      default(none) shared(a) firstprivate(n)
  for (i = 0; i < n; i++)
    a[i] = i;
  SHARED_LOOP for (i = n - 1; i >= 0; i -= 3) b[i] = a[i];
  #pragma omp parallel
  #pragma omp for collapse(2)
  for (i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) if (j == i) b[i] += j;
  #pragma omp parallel default(none) shared(a, n)
  {
    #pragma omp for
    for (double *p = a; p < a + n; p++) *p += 1;
    orphan(n / 2);
  }
  orphan(7);
  if (n > 3)
    #pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (i = 0; i < n; ++i)
      #pragma omp parallel for
      for (int j = 0; j != n; j++) b[j] = j;
  else
    sum = 3;
  #pragma omp parallel for simd
  for (i = 0; i < 0; i++) sum++;
  return a[3] == 6 && n == SIZE ? 0 : 1;
}
"""


def test_regions_of_all_kinds(measured: Measured) -> None:
    regions = measured(BASIC, "-Wall", "-Wextra", "-Werror", "-std=c99")
    seen = {
        line: (r["executions"], r["least_trips"], r["most_trips"], r["least_team"], r["most_team"])
        for line, r in regions.items()
    }
    lines = BASIC.splitlines()
    place = {key: next(n for n, t in enumerate(lines, 1) if key in t) for key in (
        "omp parallel for \\", "SHARED_LOOP for", "omp for collapse(2)", "omp for nowait",
        "reduction(+ : sum)", "for simd",
    )}  # fmt: skip
    in_team = next(n for n, t in enumerate(lines, 1) if t.strip() == "#pragma omp for")
    nested = next(n for n, t in enumerate(lines, 1) if t.strip() == "#pragma omp parallel for")
    assert seen == {
        place["omp parallel for \\"]: (1, 100, 100, 2, 2),
        place["SHARED_LOOP for"]: (1, 34, 34, 2, 2),
        place["omp for collapse(2)"]: (1, 5050, 5050, 2, 2),
        in_team: (1, 100, 100, 2, 2),
        place["omp for nowait"]: (2, 7, 50, 1, 2),
        place["reduction(+ : sum)"]: (1, 100, 100, 2, 2),
        nested: (100, 100, 100, 1, 1),
        place["for simd"]: (1, 0, 0, 2, 2),
    }
    assert regions[place["omp parallel for \\"]]["loop_line"] == place["omp parallel for \\"] + 3
    assert regions[place["omp for nowait"]]["function"] == "orphan"
    assert regions[place["omp for nowait"]]["flags"] & 2


CPP = """
#include <vector>
#include <numeric>
struct Grid {
  std::vector<double> cells;
  template <class T> T total(T first) const {
    T sum = first;
    #pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < cells.size(); ++i) sum += static_cast<T>(cells[i]);
    return sum;
  }
};
int main() {
  Grid grid{std::vector<double>(1'000, 1.0)};
  auto &cells = grid.cells;
  #pragma omp parallel for
  for (auto it = cells.begin(); it < cells.end(); it += 4) *it = 2.0;
  auto work = [&](int n) {
    #pragma omp parallel for
    for (int i = 0; i < static_cast<int>(n); i++) cells[i] = 1.0;
  };
  work(30);
  #pragma omp parallel for
  for (double &cell : cells) cell = 1.0;
  return grid.total(0) == 1000 && grid.total(0.0) == 1000.0 ? 0 : 1;
}
"""


def test_cpp(measured: Measured) -> None:
    regions = measured(CPP, "-Wall", "-Wextra", "-Werror", name="code.cpp")
    counts = {line: (r["executions"], r["most_trips"]) for line, r in regions.items()}
    assert counts.pop(8) in ((1, 1000), (2, 1000))  # a template's record may be merged or not
    assert counts == {16: (1, 250), 19: (1, 30), 23: (1, 1000)}


# Random programs.
@pytest.mark.slow
def test_trip_counts_of_many_loops(measured: Measured) -> None:
    """Loops of random headers: the count evaluated before is the number of turns made."""
    chosen = random.Random(7)
    body, expected = [], {}
    lines = 6
    for number in range(60):
        kind = chosen.choice(["int", "long", "unsigned", "short"])
        low, high, step = chosen.randint(0, 40), chosen.randint(0, 60), chosen.randint(1, 7)
        sign = chosen.choice(["<", "<="])
        if chosen.random() < 0.6:
            header = f"{kind} i = n + {low}; i {sign} n + {high}; i += {step}"
            turns = len(range(low, high + (sign == "<="), step))
        else:
            kind = "int" if kind == "unsigned" else kind
            header = f"{kind} i = n + {high}; i {sign.replace('<', '>')} n + {low}; i -= {step}"
            turns = len(range(high, low - (sign == "<="), -step))
        body += ["#pragma omp parallel for", f"for ({header}) made[{number}]++;"]
        expected[lines + 1 + 2 * number] = turns
    text = "\n".join(
        ["#include <stdio.h>", "#include <stdlib.h>", "static int made[60];",
         "int main(int argc, char **argv) {", "int n = argc - 1;", "(void)argv;", *body,
         "return 0; }"]
    )  # fmt: skip
    regions = measured(text, "-Wall", "-Werror")
    assert {line: r["trips"] for line, r in regions.items()} == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_the_team_is_counted_inside(measured: Measured, threads: int) -> None:
    text = (
        "int main(void) {\n#pragma omp parallel for if(1)\n"
        "for (int i = 0; i < 9; i++) ;\nreturn 0; }\n"
    )
    assert measured(text, threads=threads)[2]["most_team"] == threads


def test_a_team_is_asked_anew_when_its_clauses_change(measured: Measured) -> None:
    text = """#include <stdio.h>
#include <omp.h>
static int calls;
static int two(void) { calls++; return 2; }
double a[100];
int main(void)
{
    for (int r = 0; r < 6; r++) {
#pragma omp parallel for num_threads(r % 3 + 1) if(parallel : r < 4)
        for (int i = 0; i < 100; i++)
            a[i] += i;
    }
#pragma omp parallel for num_threads(two())
    for (int i = 0; i < 100; i++)
        a[i] += i;
    omp_set_num_threads(3);
#pragma omp parallel for default(none) shared(a)
    for (int i = 0; i < 100; i++)
        a[i] += i;
    printf("%d\\n", calls);
    return calls != 1;
}
"""
    found = measured(text, threads=4)
    # 1, 2, 3, 1 threads, then one each: r < 4 does not hold
    assert (found[9]["least_team"], found[9]["most_team"]) == (1, 3)
    assert found[9]["executions"] == 6
    # a function with an effect is called once, as in the program; the team is not asked for
    assert found[13]["executions"] == 1
    assert found[17]["most_team"] == 3
