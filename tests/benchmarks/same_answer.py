"""Whether `predict` says the same of the same folder every time: 100 runs, half with -j 1.

    python tests/benchmarks/same_answer.py [RUNS]

40 files with a shared header, of which every third is parsed more than once, and every twentieth
has a size that is open; those of the others are given, or each run would take ten times as long.
Runs with -j 1 and with -j 4 take turns, none from the cache of results. Prints how many
different outputs (standard output and error together) the runs gave: 1 is right; and what the
outputs hash to, by which the runs of two calls can be compared.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend"))
from test_same_answer import FILES, many_files

PROCESSES = (1, 4)


def main() -> int:
    """Runs it; exit code 1 where two runs differ."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        many_files(Path(folder))
        digests = set()
        for run in range(runs):
            processes = PROCESSES[run % len(PROCESSES)]
            done = subprocess.run(
                [sys.executable, "-m", "regionpredict", "predict", ".", "-m", "dunnington",
                 "--format", "json", "--no-cache", "--set", "n=1000", "-j", str(processes)],
                check=True, capture_output=True, cwd=folder,
            )  # fmt: skip
            digests.add(hashlib.sha256(done.stdout + b"\0" + done.stderr).hexdigest()[:12])
            if run % 10 == 9:
                print(f"{run + 1} runs: {len(digests)} different outputs", flush=True)
    print(
        f"{FILES} files, {runs} runs, -j 1 and -j 4 in turns: {len(digests)} different outputs "
        f"({' '.join(sorted(digests))})"
    )
    return int(len(digests) != 1)


if __name__ == "__main__":
    sys.exit(main())
