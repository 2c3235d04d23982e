"""Programs whose files lie in several folders: their headers, their variants, and their sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.teams import program_teams
from regionpredict.frontend import requests_for
from regionpredict.pipeline import Analysis, analyse

STEP = """#include "grid.h"
static void smooth(int n, double *v) {
  %s
  for (int i = 0; i < n; i++) v[i] += 1;
}
void step(Grid *grid) { smooth(grid->cells, grid->values); }
"""
FILES = {
    "driver/grid.h": "typedef struct { int cells; double *values; } Grid; void step(Grid *);",
    "driver/main.c": """#include <stdlib.h>
#include "grid.h"
int main(void) {
  Grid grids[2];
  grids[1].cells = 300;
  grids[1].values = malloc(2400);
  step(&grids[1]);
  return 0;
}
""",
    "omp/step.c": STEP % "#pragma omp parallel for",
    "serial/step.c": STEP % "",
}


def program(folder: Path, names: list[str], paths: list[str]) -> Analysis:
    for name in names:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(FILES[name])
    requests = requests_for([str(folder / path) for path in paths])
    return analyse(requests, {}, processes=1, flows=True)


@pytest.mark.parametrize("paths", [["driver", "omp"], ["omp", "driver"], [""]])
def test_a_header_of_another_path_is_found(paths: list[str], tmp_path: Path) -> None:
    names = ["driver/grid.h", "driver/main.c", "omp/step.c"]
    analysis = program(tmp_path, names, paths)
    assert [note for note in analysis.program.diagnostics if note.id != "RP003"] == []
    [facts] = analysis.facts
    # The loop's n is the `cells` of a variable of `step`, which main sets.
    assert facts.region.nest is not None and facts.region.nest.trips is not None
    assert facts.bindings.number(facts.region.nest.trips) == 300


def test_the_variant_with_parallel_regions_is_the_program(tmp_path: Path) -> None:
    analysis = program(tmp_path, list(FILES), [""])
    [facts] = analysis.facts
    assert facts.region.nest is not None and facts.region.nest.trips is not None
    assert facts.bindings.number(facts.region.nest.trips) == 300
    teams = program_teams(analysis.program, analysis.facts, {})
    assert [team.executions.value for team in teams.teams] == [1]
    [order] = teams.programs
    assert not any(runs.weight for runs in order.serial.values())
