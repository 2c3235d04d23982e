"""Mutated sources and inputs through the commands: no traceback, no hang, nothing lost.

    python tests/fuzz/run_fuzz.py [--mutants N] [--inputs N] [--first N] [--jobs N]
                                  [--seconds S] [--only NAME] [--sources FOLDER] [--list]

`--mutants` sources are tried with each front end, `--inputs` with every other reader, numbered from
`--first` on: the same numbers are the same mutants. `--only` names a front end or reader; repeat it
for several. `--seconds` ends the run then; what was not tried is in the summary. Control-C ends it
the same way. Needs what `pip install .` installs, and for the C parts of the package a compiler:
where that has AddressSanitizer and UndefinedBehaviorSanitizer, traces are read by C code built with
them. What is found is printed with its number, its mutant is kept in a folder, and the exit code is
1. For a long run on 16 cores:

    nice python tests/fuzz/run_fuzz.py --mutants 10000 --inputs 2000 --jobs 16 --seconds 3000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]
import input_mutants  # noqa: E402
import source_mutants  # noqa: E402
from forked_command import load_program  # noqa: E402

from regionpredict.frontend import FRONTENDS  # noqa: E402

_PIECE = {True: 40 * source_mutants.BATCH, False: 25 * input_mutants.BATCH}
_LONGEST_S = 1800.0
"""Of one piece; a command in it that hangs is ended long before."""


class Piece(NamedTuple):
    """Mutants that one process tries."""

    kind: str
    numbers: range


class Running(NamedTuple):
    """A process that tries a piece, and the file that it writes its findings to."""

    piece: Piece
    process: multiprocessing.Process
    told: Path
    until: float


class Run:
    """Pieces over processes, and what came of them."""

    def __init__(self, pieces: Sequence[Piece], jobs: int, end: float) -> None:
        self._waiting = deque(pieces)
        self._jobs, self._end = jobs, end
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self._sanitized = sanitizing(self._folder)
        self._native = {name for name, kind in input_mutants.kinds().items() if kind.native}
        self._running: list[Running] = []
        self.tried: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.kept = self._folder / "found"
        self.kept.mkdir()

    def all(self) -> None:
        """Tries the pieces until they or the time are at an end."""
        try:
            while self._running or (self._waiting and time.monotonic() < self._end):
                late = time.monotonic() > self._end
                while self._waiting and len(self._running) < self._jobs and not late:
                    self._running.append(self._start(self._waiting.popleft()))
                for one in list(self._running):
                    if one.process.exitcode is not None or late or time.monotonic() > one.until:
                        self._running.remove(one)
                        self._finish(one, late)
                time.sleep(0.05)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            for one in self._running:
                self._finish(one, True)
        for left in self._folder.iterdir():
            if left != self.kept:
                shutil.rmtree(left, ignore_errors=True)

    def _start(self, piece: Piece) -> Running:
        place = Path(tempfile.mkdtemp(dir=self._folder))
        told = place / "told"
        environment = {"FUZZ_FOLDER": str(place), "TMPDIR": str(place),
                       "XDG_CACHE_HOME": str(self._folder / "cache"),
                       "PYTHONDONTWRITEBYTECODE": "1", "REGIONPREDICT_CACHE": "off"}  # fmt: skip
        words = []
        if self._sanitized and piece.kind in self._native:
            environment.update(self._sanitized)
            words = [sys.executable, __file__, "--piece", piece.kind, str(piece.numbers.start),
                     str(piece.numbers.stop), "--told", str(told)]  # fmt: skip
        process = multiprocessing.get_context("fork").Process(
            target=_piece, args=(piece, told, environment, words)
        )
        process.start()
        return Running(piece, process, told, time.monotonic() + _LONGEST_S)

    def _finish(self, one: Running, stopped: bool) -> None:
        code = one.process.exitcode
        if code is None:
            end_with_descendants(one.process.pid or 0)
            one.process.join()
        tried, found = _told(one.told)
        if code is None and not stopped:
            found.append((one.piece.numbers.start + tried, "hang: the piece did not end"))
        elif code:
            log = (one.told.parent / "log").read_text(errors="replace")
            found.append((one.piece.numbers.start + tried, f"ended by {code}: {log[-2000:]}"))
        self.tried[one.piece.kind] += tried
        for number, what in found:
            self.found[one.piece.kind] += 1
            print(f"{one.piece.kind} {number}: {what}", flush=True)
            self._keep(one.piece.kind, number)
        shutil.rmtree(one.told.parent, ignore_errors=True)

    def _keep(self, kind: str, number: int) -> None:
        if kind in FRONTENDS:
            text, suffix = source_mutants.mutant(number, kind)
            (self.kept / f"{kind}-{number}{suffix}").write_bytes(text.encode())
        else:
            name = re.sub(r"\W", "-", kind)
            file = f"{name}-{number}-{Path(input_mutants.kinds()[kind].file).name}"
            (self.kept / file).write_bytes(input_mutants.mutant(kind, number))


def end_with_descendants(process: int) -> None:
    """Kills a process and what it has started, in whatever process group or session."""
    ended = {process}
    while True:
        alive = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
                if state not in "ZX":
                    alive[int(stat.parent.name)] = {int(parent), int(session)}
        while more := {one for one, above in alive.items() if above & ended} - ended:
            ended |= more
        if not ended & alive.keys():
            return
        for one in ended & alive.keys():
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.01)


def _piece(
    piece: Piece, told: Path, environment: Mapping[str, str], started: Sequence[str]
) -> None:
    """A piece in a fork of this process, or in a process that is `started` in its place."""
    os.setsid()
    os.chdir(told.parent)
    os.environ.update(environment)
    tempfile.tempdir = None
    log = os.open("log", os.O_WRONLY | os.O_CREAT)
    for number, handle in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
        os.dup2(handle, number)
    if started:
        os.execv(started[0], started)
    with told.open("w") as file:
        try_piece(*piece, file)


def _told(path: Path) -> tuple[int, list[tuple[int, str]]]:
    """How many mutants a process tried, and what it found."""
    tried, found = 0, []
    if path.exists():
        for line in path.read_text().splitlines():
            told = json.loads(line)
            if isinstance(told, int):
                tried += told
            else:
                found.append((int(told[0]), str(told[1])))
    return tried, found


def sanitizing(folder: Path) -> dict[str, str]:
    """The environment in which C parts are built and run with sanitizers; empty without them.

    The words of each call of the compiler are added to `sanitized/words`.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        return {}
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        asked = [compiler, f"-print-file-name={name}"]
        path = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if not Path(path).is_absolute():
            return {}
        libraries.append(path)
    wrapper = folder / "sanitized" / "gcc"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$@" >>'{wrapper.parent}/words'
exec {compiler} -fsanitize=address,undefined -fno-omit-frame-pointer "$@"
"""
    )
    wrapper.chmod(0o755)
    return {
        "CC": str(wrapper), "OMPI_CC": str(wrapper), "MPICH_CC": str(wrapper),
        "XDG_CACHE_HOME": str(folder / "sanitized" / "cache"),
        "LD_PRELOAD": " ".join(libraries),
        # Python frees millions of objects: the default of 256 MB doubles the page faults.
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:abort_on_error=1:"
        "allocator_may_return_null=1:quarantine_size_mb=8:malloc_context_size=5",
        "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    }  # fmt: skip


def try_piece(kind: str, numbers: range, told: TextIO) -> None:
    """Tries mutants in this process and writes how many were, and what was found, line by line."""
    folder = Path.cwd()

    def tell(what: object) -> None:
        told.write(f"{json.dumps(what)}\n")
        told.flush()

    if kind not in FRONTENDS:
        for found in input_mutants.findings(kind, numbers, folder, lambda: tell(1)):
            tell(found)
        return
    for begin in range(numbers.start, numbers.stop, source_mutants.BATCH):
        batch = range(begin, min(begin + source_mutants.BATCH, numbers.stop))
        for found in source_mutants.findings(batch, kind, folder):
            tell(found)
        tell(len(batch))


def pieces(kinds: Sequence[str], first: int, sources: int, inputs: int) -> Iterator[Piece]:
    """All mutants, those of every kind in turns, so that a run cut short has tried each."""
    ranges = {kind: range(first, first + (sources if kind in FRONTENDS else inputs))
              for kind in kinds}  # fmt: skip
    turn = 0
    while ranges:
        for kind, numbers in list(ranges.items()):
            size = _PIECE[kind in FRONTENDS]
            begin = numbers.start + turn * size
            if begin >= numbers.stop:
                del ranges[kind]
            else:
                yield Piece(kind, range(begin, min(begin + size, numbers.stop)))
        turn += 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutants", type=int, default=2000, help="sources per front end")
    parser.add_argument("--inputs", type=int, default=200, help="inputs per other reader")
    parser.add_argument("--first", type=int, default=1, help="number of the first mutant")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=None, help="time after which to stop")
    parser.add_argument("--only", action="append", default=[], help="a front end or reader")
    parser.add_argument("--sources", help="a folder of further C and C++ files to mutate")
    parser.add_argument("--list", action="store_true", help="print the front ends and readers")
    parser.add_argument("--piece", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--told", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    options = _options()
    if options.sources:
        source_mutants.FOLDERS.append(Path(options.sources).resolve())
    if options.piece:
        kind, begin, end = options.piece
        with Path(options.told).open("w") as told:
            try_piece(kind, range(int(begin), int(end)), told)
        return 0
    load_program()  # once, for all forks
    with tempfile.TemporaryDirectory(prefix="fuzz-inputs-") as folder:
        os.environ["FUZZ_FOLDER"] = folder
        every = [*FRONTENDS, *input_mutants.kinds()]
    if options.list:
        print("\n".join(every))
        return 0
    if unknown := set(options.only) - set(every):
        print(f"no reader {', '.join(unknown)}; see --list", file=sys.stderr)
        return 2
    kinds = options.only or every
    begun = time.monotonic()
    end = begun + options.seconds if options.seconds is not None else float("inf")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run = Run(
        list(pieces(kinds, options.first, options.mutants, options.inputs)), options.jobs, end
    )
    run.all()
    for kind in kinds:
        asked = options.mutants if kind in FRONTENDS else options.inputs
        print(f"{kind:24} {run.tried[kind]:>7} of {asked} tried, {run.found[kind]} findings")
    took = time.monotonic() - begun
    print(f"{run.tried.total()} mutants in {took:.0f} s, {run.found.total()} findings"
          + (f"; they are in {run.kept}" if run.found else ""))  # fmt: skip
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
