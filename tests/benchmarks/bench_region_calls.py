"""What the calls around a region cost: a program of empty regions, built with and without them.

    python tests/benchmarks/bench_region_calls.py [COMPILER]

Prints nanoseconds a region on one thread, least of several runs: the program's own time over many
executions, measured minus plain. Other programs on the machine can only add to a run's time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMES = 400_000
RUNS = 9
KINDS = {
    "parallel for": "for (long r = 0; r < TIMES; r++) {\n#pragma omp parallel for\nLOOP }",
    "for in a parallel": "\n#pragma omp parallel\nfor (long r = 0; r < TIMES; r++) {\n"
    "#pragma omp for\nLOOP }",
}
PROGRAM = """#include <stdio.h>
#include <time.h>
#define LOOP for (int i = 0; i < 4; i++) cell[i] += i;
static volatile int cell[4];
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(void)
{
    double begin = now();
    BODY
    printf("%.3f\\n", (now() - begin) / TIMES);
    return 0;
}
"""


def main() -> None:
    """Builds, runs in turn, prints."""
    compiler = sys.argv[1] if len(sys.argv) > 1 else "gcc"
    wrapper = [sys.executable, "-m", "regionpredict", "cc", "--"]
    for kind, body in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "regions.c")
            source.write_text(PROGRAM.replace("BODY", body))
            line = [compiler, "-O2", "-fopenmp", f"-DTIMES={TIMES}", str(source), "-o"]
            plain, measured = Path(folder, "plain"), Path(folder, "measured")
            paths = {**os.environ, "PYTHONPATH": str(ROOT)}
            subprocess.run([*line, str(plain)], check=True)
            subprocess.run([*wrapper, *line, str(measured)], check=True, env=paths)
            pairs = [(_spent(plain), _spent(measured)) for _ in range(RUNS)]
            without, within = (min(times) for times in zip(*pairs, strict=True))
            more = within - without
            print(f"{kind:<18} {without:6.1f} ns plain, {more:6.1f} ns more with the calls")


def _spent(program: Path) -> float:
    settings = {"OMP_NUM_THREADS": "1", "REGIONPREDICT_OUTPUT": str(program) + ".results"}
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, check=True, env={**os.environ, **settings}
    )
    return float(done.stdout)


if __name__ == "__main__":
    main()
