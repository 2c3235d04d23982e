"""The Game of Life of an 8-core node with a front-side bus: two packages, curves by size."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median

from measured import Case, DataSet, rows
from predictor import Code

STEPS = 1000
SOURCE = """
void life(int N, int steps, int now[N][N], int before[N][N])
{
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for schedule(static)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        int alive = before[i+1][j+1] + before[i+1][j] + before[i+1][j-1] + before[i][j-1]
                 + before[i][j+1] + before[i-1][j-1] + before[i-1][j] + before[i-1][j+1];
        if (alive == 3 || before[i][j] + alive == 3)
          now[i][j] = 1;
        else
          now[i][j] = 0;
      }
  }
}
"""


def read(path: Path) -> DataSet:
    """One curve a size: the median of the runs."""
    times: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(path):
        if row["kernel"] == "game_of_life" and row["variant"] == "parfor":
            times[int(row["N"])][int(row["threads"])].append(float(row["time_s"]))
    cases = tuple(
        Case(
            f"{size} x {size}",
            Code(SOURCE, sizes=(("N", size), ("steps", STEPS))),
            "clovertown",
            {threads: median(runs) for threads, runs in sorted(by_threads.items())},
            True,
        )
        for size, by_threads in sorted(times.items())
    )
    return DataSet(
        "game of life", "an 8-core node with a front-side bus, 3 sizes",
        "ntua_8core_game_of_life.csv (NTUA lab exercises)", cases, "packages", "out", "nothing",
    )  # fmt: skip
