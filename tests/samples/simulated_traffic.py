"""Memory traffic of a region by simulation: its references written out as a C program, and run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Loop, Statement
from regionpredict.ir.region import Branch, Node, Synchronisation

SIMULATOR = Path(__file__).with_name("lru.c")


def simulated_lines(
    facts: RegionFacts, threads: int, capacities: Sequence[int], folder: Path, compiler: str
) -> list[tuple[int, int]]:
    """(lines read, lines written back) of a region for each cache of so many bytes, caches cold
    and flushed at the end.
    """
    source, program = folder / "trace.c", folder / "trace"
    # Inner loops of a name used before are written with a prime: i', i''.
    source.write_text(trace_program(facts, threads).replace("'", "_again"))
    subprocess.run(
        [compiler, "-O2", "-w", "-o", str(program), str(source)], check=True, timeout=600
    )
    sizes = [str(capacity // 64) for capacity in capacities]
    done = subprocess.run(
        [str(program), *sizes], check=True, timeout=600, capture_output=True, text=True
    )
    found = []
    for line in done.stdout.splitlines():
        reads, writes = line.split()
        found.append((int(reads), int(writes)))
    return found


def trace_program(facts: RegionFacts, threads: int) -> str:
    """The C text: the nest with every reference turned into a call, one run a thread."""
    region = facts.region
    own = {loop.variable for _, loops in region.statements() for loop in loops}
    lines = [SIMULATOR.read_text()]
    lines.append("static long min(long a, long b) { return a < b ? a : b; }")
    lines.append("static long max(long a, long b) { return a > b ? a : b; }")
    for name, value in facts.bindings.values.items():
        if name.isidentifier() and name not in own:
            lines.append(f"static const long {name} = {int(value)};")
    for number, array in enumerate(region.arrays):
        # Beyond 32 bits, and 16 bytes into a line, as malloc places large blocks.
        base = ((number + 1) << 36) + 16 + 4096 * number
        lines.append(f"static const unsigned long base_{array.name} = {base}ul;")
    lines.append("static void region(int thread, int threads) {")
    assert region.nest is not None
    lines += _parallel(facts, region.nest)
    lines.append("}")
    lines.append(
        "int main(int count, char **sizes) { "
        f"for (current = 0; current < {threads}; current++) region(current, {threads}); "
        f"for (int i = 1; i < count; i++) replay({threads}, atol(sizes[i])); return 0; }}"
    )
    return "\n".join(lines) + "\n"


def _parallel(facts: RegionFacts, nest: Loop) -> list[str]:
    """The worksharing loop: each thread its contiguous piece, as `schedule(static)` deals it."""
    v = nest.variable
    lines = [f"long total = 0; {_head(nest)} total++;"]
    lines.append("long piece = (total + threads - 1) / threads, number = 0;")
    lines.append(f"{_head(nest)} {{ long here = number++;")
    lines.append("if (here < thread * piece || here >= (thread + 1) * piece) continue;")
    for node in nest.body:
        lines += _node(facts, node)
    lines.append(f"(void){v}; }}")
    return lines


def _head(loop: Loop) -> str:
    v = loop.variable
    return f"for (long {v} = {loop.start}; {v} {loop.comparison} {loop.bound}; {v} += {loop.step})"


def _node(facts: RegionFacts, node: Node) -> list[str]:
    if isinstance(node, Statement):
        return [_touch(facts, access) for access in node.accesses]
    if isinstance(node, Loop):
        body = [line for inner in node.body for line in _node(facts, inner)]
        return [_head(node) + " {", *body, "}"]
    if isinstance(node, Branch):
        return [line for side in node.sides for inner in side for line in _node(facts, inner)]
    assert isinstance(node, Synchronisation)
    return [line for inner in node.body for line in _node(facts, inner)]


def _touch(facts: RegionFacts, access) -> str:  # type: ignore[no-untyped-def]
    array = facts.region.array(access.array)
    index = "0"
    for subscript, extent in zip(access.subscripts, array.dims, strict=False):
        index = f"(({index}) * ({extent if extent is not None else 1}) + ({subscript}))"
    address = f"base_{array.name} + (unsigned long)({index}) * {array.element_bytes}"
    return f"touch({address}, {int(access.kind == 'write')});"
