"""How long an answer takes that is given again, as a ratio to `regionpredict --help`.

    python tests/benchmarks/bench_warm.py [PATH... [-m MACHINE ...]]

The command is `regionpredict predict polybench_samples npb_samples -m dunnington` where nothing is
given. It runs once with a cache of its own, which is the cold figure; then, in each of several
rounds, one after the other: a bare Python, `--help`, and the command again. Medians and minima of
the wall clock, the median of the processor time, and the median of each round's ratio to `--help`.
The answers are compared: a cache that answers wrongly has no figure.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ROUNDS = 25
SUITES = ("polybench_samples", "npb_samples", "-m", "dunnington")


class Run(NamedTuple):
    """Seconds of the wall clock and of all processors, and what was printed."""

    wall: float
    processor: float
    printed: tuple[bytes, bytes]


def run(words: list[str], cache: str) -> Run:
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
    environment.pop("REGIONPREDICT_CACHE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, used, (done.stdout, done.stderr))


def main() -> None:
    command = ["-m", "regionpredict", "predict", *(sys.argv[1:] or SUITES)]
    kinds = {
        "bare Python": ["-c", "pass"],
        "--help": ["-m", "regionpredict", "--help"],
        "answer again": command,
    }
    runs: dict[str, list[Run]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as cache:
        cold = run(command, cache)
        for _ in range(ROUNDS):
            for kind, words in kinds.items():
                runs[kind].append(run(words, cache))
        if not list(Path(cache).rglob("*.answer")):
            sys.exit("nothing was kept")
    if any(again.printed != cold.printed for again in runs["answer again"]):
        sys.exit("another answer")
    print(f"first run      {cold.wall * 1e3:8.1f} ms, processors {cold.processor * 1e3:8.1f} ms")
    for kind, samples in runs.items():
        walls = [sample.wall for sample in samples]
        used = statistics.median(sample.processor for sample in samples)
        pairs = zip(walls, (sample.wall for sample in runs["--help"]), strict=True)
        ratio = statistics.median(wall / help_wall for wall, help_wall in pairs)
        print(
            f"{kind:14} {statistics.median(walls) * 1e3:8.1f} ms, least {min(walls) * 1e3:7.1f} ms,"
            f" processors {used * 1e3:7.1f} ms, {ratio:5.2f} x --help"
        )


if __name__ == "__main__":
    main()
