"""Reading and analysing a synthetic trace: python tests/benchmarks/bench_trace.py [EVENTS] [RANKS].

Prints events a second of one core's time, the time and memory of all, and the speed of the otf2
package's own reader on the first hundred thousand events.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from synthetic_trace import EVENTS_AN_ITERATION, write_archive

from regionpredict.measure.runtime_library import shared_library
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.user_cache import private_folder, user_cache_folder

SLOW_EVENTS = 100_000


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    kernels = Kernels((os.environ.get("CC", "gcc"),), _cache())
    with tempfile.TemporaryDirectory() as temporary:
        small = write_archive(Path(temporary) / "small", ranks, 2)
        analyse(read_otf2(small, kernels), kernels)  # compiles the kernels
        anchor = Path(temporary) / "ring" / "traces.otf2"
        iterations = events // (EVENTS_AN_ITERATION * ranks)
        subprocess.run(  # its memory is not this one's
            [sys.executable, __file__, "--write", str(anchor.parent), str(ranks), str(iterations)],
            check=True,
        )
        before = _peak()
        clock = time.monotonic()
        begin = time.process_time()
        trace = read_otf2(anchor, kernels)
        read = time.process_time()
        analysis = analyse(trace, kernels)
        results = [tell(analysis) for tell in (wait_states, delay_costs, critical_path)]
        done = time.process_time()
        wall = time.monotonic() - clock
        count = len(trace)
        print(f"{count} events on {ranks} ranks, {len(analysis.points)} synchronisation points")
        print(f"read      {count / (read - begin) / 1e6:8.2f} million events/s of a core")
        print(f"analysed  {count / (done - read) / 1e6:8.2f} million events/s of a core")
        print(f"in all    {done - begin:8.1f} s of a core, {wall:.1f} s of wall-clock time")
        print(
            f"memory    {_peak() / 1e9:8.2f} GB, {_peak() / count:.1f} bytes/event with the "
            f"interpreter, {(_peak() - before) / count:.1f} without"
        )
        print(f"sums hold {all(sum.holds for result in results for sum in result.balances)}")
        print(f"otf2's own Python reader {_own_reader(anchor) / 1e6:.2f} million events/s")


def _cache() -> Path:
    return private_folder(user_cache_folder(os.environ) / "kernels")


def _write(folder: Path, ranks: int, iterations: int) -> None:
    source = Path(__file__).with_name("synthetic_trace.c")
    library = shared_library((os.environ.get("CC", "gcc"),), _cache(), source)
    write_archive(folder, ranks, iterations, ctypes.CDLL(str(library)))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _own_reader(anchor: Path) -> float:
    import otf2

    with otf2.reader.open(str(anchor)) as trace:
        begin = time.process_time()
        count = sum(1 for _ in islice(iter(trace.events), SLOW_EVENTS))
        return count / (time.process_time() - begin)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        _write(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
