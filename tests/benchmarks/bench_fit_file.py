"""Reading, modelling and printing a file of many call paths, beside Extra-P's if installed.

    python tests/benchmarks/bench_fit_file.py [--callpaths 10000]

Both commands read the same file in Extra-P's text format, each in a process of its own; the
figure is the processor time of that process and its children, in seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_OURS = "from regionpredict.cli.fit import command; command()"


def write_measurements(path: Path, callpaths: int, seed: int = 5) -> None:
    """Five points, five repetitions with 5 % noise, a constant and `p`, `log2(p)` or `p^2`."""
    rng = np.random.default_rng(seed)
    points = np.array([8.0, 16, 32, 64, 128])
    columns = [points, np.log2(points), points**2]
    with path.open("w", encoding="utf-8") as stream:
        stream.write("PARAMETER p\nPOINTS 8 16 32 64 128\nMETRIC time\n")
        for k in range(callpaths):
            truth = rng.uniform(1, 10) + rng.uniform(0.1, 1) * columns[k % 3]
            stream.write(f"REGION main->f{k}\n")
            for row in truth[:, None] * rng.normal(1, 0.05, (5, 5)):
                stream.write("DATA " + " ".join(f"{v:.9g}" for v in row) + "\n")


def seconds(command: list[str]) -> float:
    """Processor time of a command, its output thrown away."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--callpaths", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measurements.txt"
        write_measurements(path, options.callpaths)
        ours = min(seconds([sys.executable, "-c", _OURS, str(path)]) for _ in range(3))
        print("| call paths | regionpredict, s | Extra-P, s | times |")
        print("| --- | --- | --- | --- |")
        if importlib.util.find_spec("extrap") is None:
            print(f"| {options.callpaths} | {ours:.2f} | - | - |")
            return
        rival = [sys.executable, "-m", "extrap.extrap.extrapcmd"]
        theirs = seconds([*rival, "--text", str(path), "--disable-progress"])
        print(f"| {options.callpaths} | {ours:.2f} | {theirs:.1f} | {theirs / ours:.0f} |")


if __name__ == "__main__":
    main()
