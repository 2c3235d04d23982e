"""The Game of Life of an 8-core node with a front-side bus: two packages, curves by size."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import median

from package_choice import Choice, choose

from regionpredict.machine import load

SOURCE = """
void life(int N, int steps, int now[N][N], int before[N][N])
{
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for schedule(static)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        int near = before[i+1][j+1] + before[i+1][j] + before[i+1][j-1] + before[i][j-1]
                 + before[i][j+1] + before[i-1][j-1] + before[i-1][j] + before[i-1][j+1];
        if (near == 3 || before[i][j] + near == 3)
          now[i][j] = 1;
        else
          now[i][j] = 0;
      }
  }
}
"""


def game_choices(path: Path) -> list[Choice]:
    """One choice a size, on `clovertown`, the front-side bus of that node's kind."""
    machine = load("clovertown")
    times: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["kernel"] == "game_of_life" and row["variant"] == "parfor":
                times[int(row["N"])][int(row["threads"])].append(float(row["time_s"]))
    found = []
    for size in (1024, 4096):
        seconds = {threads: median(times[size][threads]) for threads in sorted(times[size])}
        measured = {t: seconds[1] / s for t, s in seconds.items()}
        found.append(choose(SOURCE, {"N": size, "steps": 1000}, machine, str(size), measured))
    return found
