"""The same files give the same bytes, whatever the number of processes, as often as one asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.stage_dumps import dump_stage

FILES = 40


def many_files(folder: Path) -> None:
    """Files with a shared header, of which every third misses one: it is parsed twice.

    Loops run to n, those of every twentieth file to m.
    """
    (folder / "include").mkdir()
    (folder / "include" / "sizes.h").write_text("#define N 100\nextern double shared[N];\n")
    for number in range(FILES):
        missing = "#include <nowhere/settings.h>\n" if number % 3 == 0 else ""
        own_type = "real_t" if number % 3 == 0 else "double"
        end = "m" if number % 20 == 0 else "n"
        lines = [
            f'{missing}#include "sizes.h"',
            f"void f{number}(int {end}, {own_type} *a) {{",
            *(
                "#pragma omp parallel for\n"
                f"for (int i = {loop}; i < {end}; i++) a[i] += shared[i % N];"
                for loop in range(1 + number % 4)
            ),
            "}",
        ]
        (folder / f"file_{number:02d}.c").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("frontend", "runs"),
    [("libclang", 1), pytest.param("libclang", 2, marks=pytest.mark.slow),
     pytest.param("pycparser", 2, marks=pytest.mark.slow)],
)  # fmt: skip
def test_runs_and_processes_change_nothing(tmp_path: Path, frontend: str, runs: int) -> None:
    many_files(tmp_path)
    answers = set()
    for processes in (1, 4):
        for _ in range(runs):
            analysis = analyse(
                requests_for([str(tmp_path)]), {}, frontend=frontend, processes=processes
            )
            notes = "\n".join(map(str, analysis.program.diagnostics))
            answers.add(
                dump_stage("program", analysis, None) + dump_stage("facts", analysis, None) + notes
            )
            regions = [Path(region.span.file).name for region in analysis.program.regions]
            assert len(set(regions)) == FILES
            assert len(regions) == sum(1 + number % 4 for number in range(FILES))
    assert len(answers) == 1
