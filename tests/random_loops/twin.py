"""Compiles the twins of a batch of programs, runs them, and reads what they counted."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from programs import RandomProgram
from values import ELEMENT_BYTES, globals_text, shapes

COMPILER = os.environ.get("CC") or "gcc"
PRELUDE = Path(__file__).with_name("twin.c").read_text()
_COUNTED = """
static double sum_of_two_(double a, double b) { return a + b; }
static void put_element_(double *row, int at, double value) { WRITTEN(0, 0, row[at]) = value; }
#define EVERY(array) (long)(sizeof(array) / sizeof((array)[0]))
static void begin(void) {
  for (long i = 0; i < (long)(sizeof A / sizeof A[0][0]); i++) {
    (&A[0][0])[i] = 1 + i % 7 * 0.25;
    (&B[0][0])[i] = 2 - i % 5 * 0.5;
  }
  for (long i = 0; i < (long)(sizeof T / sizeof T[0][0][0]); i++) (&T[0][0][0])[i] = i % 9 * 0.5;
  for (long i = 0; i < EVERY(x); i++) {
    x[i] = 1 + i % 3 * 0.5; y[i] = i % 13 * 0.25; s[i] = i % 4;
    v[i] = i % 11 + 1; w[i] = i % 23; idx[i] = i * 37 % 101;
  }
  for (long i = 0; i < EVERY(cells); i++) cells[i] = (struct point){{1, 2, 3}, i % 5, 0.5};
}
"""
_KINDS = ("add", "mul", "div", "compare", "logic", "neg", "sqrt")
_EVENT = np.dtype(
    [("kind", "<i4"), ("line", "<i4"), ("array", "<i4"), ("bytes", "<i4"), ("offset", "<i8"),
     ("whole", "<i4"), ("unused", "<i4")]
)  # fmt: skip
READ, WRITE, SHARED = range(3)


@dataclass(frozen=True)
class Truth:
    """What a program did. Lines are counted from the program's first, which is 0.

    `iterations` that the directive shares; `runs` of each statement's line; `operations` and
    `references` (array, kind, bytes) of one run of it, where it ran. `working_set` in bytes: boxes
    around what each array had touched, arrays of a thread's own left out. `events` are the
    references in order, `SHARED` events between iterations.
    """

    iterations: int
    runs: dict[int, int]
    operations: dict[int, Counter[tuple[str, int]]]
    references: dict[int, Counter[tuple[str, str, int]]]
    working_set: int
    events: np.ndarray
    arrays: tuple[tuple[str, bool], ...]


def source_of(batch: Sequence[RandomProgram], *, twin: bool) -> tuple[str, list[int]]:
    """One file with all programs, and the number of each one's first line."""
    text, firsts = globals_text(large=batch[0].large), []
    for one in batch:
        firsts.append(text.count("\n") + 1)
        text += one.text(firsts[-1], twin=twin)
    return text, firsts


def truths(batch: Sequence[RandomProgram]) -> list[Truth | None]:
    """What each program does; None where it leaves its arrays or runs too long."""
    text, firsts = source_of(batch, twin=True)
    known = globals_text(large=batch[0].large)
    calls = [
        f"  begin(); observe(call_{one.name}, {first}, {first + len(one.lines) - 1});"
        for one, first in zip(batch, firsts, strict=True)
    ]
    # `program` puts the globals before all else, where the counting macros come too late to harm.
    whole = "\n".join(
        [PRELUDE, known, _COUNTED, text[len(known) :], "int main(void) {",
         "  trace = malloc(EVENTS * sizeof *trace);",
         *(f"  KNOW({name});" for name in shapes(large=False)),
         *calls, "  return 0;", "}"]
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "twin.c").write_text(whole)
        built = subprocess.run(
            [COMPILER, "-std=gnu11", "-O0", "-w", "twin.c", "-o", "twin", "-lm"], cwd=folder,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not built.returncode, built.stderr[:3000]
        ran = subprocess.run([f"{folder}/twin"], capture_output=True, timeout=600, check=True)
    return _read(ran.stdout, batch)


def _read(data: bytes, batch: Sequence[RandomProgram]) -> list[Truth | None]:
    at = 0
    found: list[Truth | None] = []
    for one in batch:
        failed, first, last, arrays, events = struct.unpack_from("<5q", data, at)
        at += 40
        counted = np.frombuffer(data, "<i8", (last - first + 1) * 30, at).reshape(-1, 30)
        at += counted.nbytes
        names = []
        for _ in range(arrays):
            name, local = struct.unpack_from("<32sq", data, at)
            names.append((name.split(b"\0")[0].decode(), bool(local)))
            at += 40
        trace = np.frombuffer(data, _EVENT, events, at).copy()
        at += trace.nbytes
        trace["line"] -= first
        found.append(None if failed else _truth(one, counted, tuple(names), trace))
    return found


def _truth(
    program: RandomProgram, counted: np.ndarray,
    arrays: tuple[tuple[str, bool], ...], events: np.ndarray,
) -> Truth:  # fmt: skip
    runs = {at: int(counted[at][0]) for at in program.statements}
    operations: dict[int, Counter[tuple[str, int]]] = {}
    references: dict[int, Counter[tuple[str, str, int]]] = {}
    for at in program.statements:
        times = int(counted[at][1])
        if not times:
            continue
        mine: Counter[tuple[str, int]] = Counter()
        for kind, name in enumerate(_KINDS):
            for floating in (0, 1):
                for wide in (0, 1):
                    number = int(counted[at][2 + 4 * kind + 2 * floating + wide])
                    if number:
                        key = (("fp_" if floating else "int_") + name, 64 if wide else 32)
                        mine[key] += number / times  # type: ignore[assignment]
        operations[at] = mine
    own, _ = zip(*arrays, strict=True)
    for line in operations:
        seen = events[(events["line"] == line) & (events["kind"] != SHARED)]
        keys, numbers = np.unique(seen[["array", "kind", "bytes"]], return_counts=True)
        references[line] = Counter({
            (own[int(a)], "write" if k == WRITE else "read", int(b)): int(n) / int(counted[line][1])
            for (a, k, b), n in zip(keys, numbers, strict=True) if not arrays[int(a)][1]
        })  # fmt: skip
    return Truth(
        int((events["kind"] == SHARED).sum()), runs, operations, references,
        _boxes(arrays, events, shapes(large=program.large)), events, arrays,
    )  # fmt: skip


def _boxes(
    arrays: tuple[tuple[str, bool], ...], events: np.ndarray, extents: dict[str, tuple[int, ...]]
) -> int:
    total = 0
    memory = events[events["kind"] != SHARED]
    for number, (name, local) in enumerate(arrays):
        seen = memory[memory["array"] == number]
        if local or not len(seen):
            continue
        size = ELEMENT_BYTES.get(name, 8)
        if seen["whole"].any():
            total += size * int(np.prod(extents[name]))
            continue
        if len(extents[name]) == 1 and name != "cells":  # numbers of any size
            ends = seen["offset"] + seen["bytes"]
            total += int(ends.max() - seen["offset"].min())
            continue
        volume = size
        last = np.unravel_index((seen["offset"] + seen["bytes"] - 1) // size, extents[name])
        for axis, low in enumerate(np.unravel_index(seen["offset"] // size, extents[name])):
            volume *= int(last[axis].max()) - int(low.min()) + 1
        total += volume
    return total
