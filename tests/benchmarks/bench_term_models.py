"""Do terms known in advance tell the largest size better than a search, and than the prediction?

    python tests/benchmarks/bench_term_models.py [MACHINE.yaml [FOLDER]]

Builds the PolyBench samples under the wrapper at four sizes, by the bytes that their arrays take,
measures each on one thread and on all processors, leaves the largest size out, and prints the
medians over the regions that run longer than a millisecond there. What FOLDER has is not built
and measured again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CACHE_BYTES = (60_000, 200_000, 600_000, 2_000_000)
LEAST_S = 1e-3
LIMIT_S = 15  # a program that runs longer is left out: six runs at four sizes are made of each


def _run(*words: str) -> str:
    line = [sys.executable, "-m", "regionpredict", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def _measured(folder: Path, size: int) -> Path:
    build, file = folder / str(size), folder / f"{size}.jsonl"
    wrapper = f"{sys.executable} -m regionpredict cc -- gcc"
    subprocess.run(
        ["make", "-s", f"-j{len(os.sched_getaffinity(0))}", "-C", str(ROOT / "polybench_samples"),
         f"CC={wrapper}", "CFLAGS=-O3 -march=native -g", f"DEFINES=-DCACHE_BYTES={size}",
         f"BUILD={build}"],
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if not file.exists():
        threads = f"1,{len(os.sched_getaffinity(0))}"
        part = folder / "part.jsonl"
        part.unlink(missing_ok=True)
        programs = f"for program in {build}/*; do timeout {LIMIT_S} $program; done >/dev/null; :"
        _run("measure", "--threads", threads, "--repeat", "3", "--quiet-wait", "none", "-o",
             str(part), "--", "sh", "-c", programs)  # fmt: skip
        part.rename(file)
    return file


def _longest(file: Path, region: dict[str, Any]) -> float:
    """The region's least time on one thread at the largest size, in seconds an execution."""
    path, _, line = region["region"].rpartition(":")
    times = []
    for text in file.read_text().splitlines():
        run = json.loads(text)
        if run.get("kind") != "run" or run["threads"] != 1:
            continue
        times += [one["total_s"] / one["executions"] for one in run["regions"]
                  if one["file"].endswith(path) and one["line"] == int(line)]  # fmt: skip
    return min(times, default=0.0)


def main() -> None:
    """Measures, fits, prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else name).resolve()
        folder.mkdir(exist_ok=True)
        machine = sys.argv[1] if len(sys.argv) > 1 else "host"
        files = [_measured(folder, size) for size in CACHE_BYTES]
        hints = folder / "hints.json"
        _run("predict", "polybench_samples", "-D", f"CACHE_BYTES={CACHE_BYTES[0]}", "-m", machine,
             "--format", "json", "-o", str(hints))  # fmt: skip
        text = _run("compare", str(hints), *map(str, files), "--by-size", "--with-disturbed",
                    "--statistic", "least", "--format", "json")  # fmt: skip
        models = [one for one in json.loads(text)["models"] if one["held_out"] is not None]
        long = [one for one in models if _longest(files[-1], one) > LEAST_S]
    print(f"{len(long)} of {len(models)} regions run longer than {1e3 * LEAST_S:g} ms")
    for what in ("terms", "search", "prediction"):
        errors = [one["held_out"][what] for one in long if one["held_out"][what] is not None]
        print(f"{what:<12} {100 * median(errors):6.1f} % median error at the largest size")
    for one in sorted(long, key=lambda one: -one["held_out"]["terms"]):
        errors = [one["held_out"][what] for what in ("terms", "search", "prediction")]
        shown = "".join(f"{'-' if e is None else f'{100 * e:.1f}':>10}" for e in errors)
        print(f"{one['region']:<60}{shown}")


if __name__ == "__main__":
    main()
