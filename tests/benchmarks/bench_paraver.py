"""Reading generated Paraver text: python tests/benchmarks/bench_paraver.py [RECORDS] [RANKS].

Prints records a second of one core's time, taken apart and as events, and the largest memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from regionpredict.trace.kernels import Kernels
from regionpredict.trace.paraver import read_paraver
from regionpredict.trace.paraver.records import read_records
from regionpredict.user_cache import private_folder, user_cache_folder

_RECORDS_A_ROUND = 5  # of each rank
_ROUND_NS = 3000


def write_trace(path: Path, ranks: int, rounds: int) -> None:
    """Each round, every rank computes and meets the others, with counters and callers."""
    places = [f"{rank}:1:{rank}:1" for rank in range(1, ranks + 1)]
    tasks = ",".join("1:1" for _ in places)
    with path.open("w") as file:
        file.write(
            f"#Paraver (01/01/2026 at 00:00):{rounds * _ROUND_NS}_ns:1({ranks}):1:"
            f"{ranks}({tasks}),1\n"
            f"c:1:1:{ranks}:{':'.join(map(str, range(1, ranks + 1)))}\n"
        )
        for number in range(rounds):
            begin, met = number * _ROUND_NS, number * _ROUND_NS + 1500
            end = begin + _ROUND_NS
            for rank, place in enumerate(places):
                late = begin + 1000 + (37 * rank + 11 * number) % 400
                counted = f":42000050:{2 * (late - begin)}:42000059:{late - begin}"
                file.write(
                    f"1:{place}:{begin}:{late}:1\n"
                    f"2:{place}:{late}:50000002:10:50100004:1:50100001:8:50100002:8{counted}"
                    f":70000001:3:80000001:{3 + number % 3}\n"
                    f"1:{place}:{late}:{met}:13\n2:{place}:{met}:50000002:0{counted}\n"
                    f"1:{place}:{met}:{end}:1\n"
                )


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    folder = private_folder(user_cache_folder(os.environ) / "kernels")
    kernels = Kernels((os.environ.get("CC", "gcc"),), folder)
    kernels.load("paraver_text.c")
    rounds = records // (_RECORDS_A_ROUND * ranks)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "generated.prv"
        write = [sys.executable, __file__, "--write", str(path), str(ranks), str(rounds)]
        subprocess.run(write, check=True)  # its memory is not this one's
        count = rounds * _RECORDS_A_ROUND * ranks
        begin = time.process_time()
        read_records(path, kernels)
        taken = time.process_time()
        trace = read_paraver(path, kernels)
        done = time.process_time()
        size = path.stat().st_size
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"Paraver text: {count} records, {size / 1e6:.0f} MB, {len(trace)} events")
    print(f"taken apart {count / (taken - begin) / 1e6:8.2f} million records/s of a core")
    print(f"read        {count / (done - taken) / 1e6:8.2f} million records/s of a core")
    print(f"memory      {peak / size:8.1f} bytes per byte of text with the interpreter")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_trace(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
