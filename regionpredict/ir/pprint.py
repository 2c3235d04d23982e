"""Formats the IR as text, for `--dump program` and for tests that compare front ends.

Example:

    region f.c:3 parallel for in scale (combined)
      schedule(static)
      for i from 0 while < n step 1
        a[i] *= s | fp_mul.64 x1 | read a[i] | write a[i]
      array a: 8 bytes, dims [?], parameter
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.ir.program import Program
from regionpredict.ir.region import (
    Branch,
    Loop,
    LoopSuccessor,
    Node,
    ParallelConstruct,
    Region,
    Statement,
)


def dump_program(program: Program) -> str:
    """Formats all regions of a program, with the definitions of their names."""
    lines = []
    for region in program.regions:
        lines.append(dump_region(region))
        for definition in program.definitions.get(region.id, ()):
            lines.append(f"  define {definition.name} = {definition.value}")
    lines += [f"note {note}" for note in program.diagnostics]
    return "\n".join(lines)


def dump_region(region: Region) -> str:
    """Formats one region: directive, loops, statements, arrays, notes."""
    by_hand = ", by hand" if region.by_hand else ""
    lines = [
        f"region {region.id} {region.directive} in {region.function} ({region.context}{by_hand})"
    ]
    for clause in region.clauses:
        lines.append(f"  {clause.name}" + (f"({clause.text})" if clause.text is not None else ""))
    for loop in region.enclosing:
        lines.append(f"  inside {_loop_header(loop)}")
    if region.context == "inside" and region.parallel is not None:
        lines.append(f"  {_parallel_line(region.parallel)}")
        lines += [
            f"  then {_successor_line(successor)}"
            for successor in region.parallel.successors if successor.loop == region.span
        ]  # fmt: skip
    if region.nest is not None:
        lines += [f"  {line}" for line in _node_lines(region.nest)]
    for array in region.arrays:
        dims = ", ".join("?" if extent is None else str(extent) for extent in array.dims)
        lines.append(
            f"  array {array.name}: {array.element_bytes} bytes, dims [{dims}], {array.storage}"
        )
    lines += [
        f"  note {note.id} line {note.span.line}: {note.message}" for note in region.diagnostics
    ]
    return "\n".join(lines)


def _parallel_line(parallel: ParallelConstruct) -> str:
    """Formats `in parallel at line 7, 1 of the loops around it: num_threads(4), barrier at line
    9`.
    """
    clauses = [c.name if c.text is None else f"{c.name}({c.text})" for c in parallel.clauses]
    others = [
        f"{synchronisation.kind} at line {synchronisation.span.line}"
        for synchronisation in parallel.synchronisations
    ]
    clauses_shown = ", ".join((*clauses, *others))
    loops = f", {parallel.depth} of the loops around it" if parallel.depth else ""
    return f"in parallel at line {parallel.span.line}{loops}" + (
        f": {clauses_shown}" if clauses_shown else ""
    )


def _successor_line(successor: LoopSuccessor) -> str:
    """Formats `at once the loop at line 12`."""
    if successor.then is None:
        return "all threads meet"
    return f"at once the loop at line {successor.then.line}"


def _node_lines(node: Node) -> Iterator[str]:
    if isinstance(node, Statement):
        yield _statement_line(node)
        return
    if isinstance(node, Loop):
        yield _loop_header(node)
        bodies = [node.body]
    elif isinstance(node, Branch):
        given = "" if node.share is None else f" (true {100 * float(node.share):g} %, given)"
        yield f"if {node.condition}{given}"
        bodies = list(node.sides)
    else:
        yield node.kind
        bodies = [node.body]
    for number, body in enumerate(bodies):
        if number:
            yield "else"
        for inner in body:
            for line in _node_lines(inner):
                yield f"  {line}"


def _loop_header(loop: Loop) -> str:
    if loop.start is None or loop.bound is None:
        return f"{loop.kind} {loop.variable}: not counted"
    leaves = ", may leave early" if loop.exits else ""
    leaves += f", sums {' '.join(sorted(loop.unordered))} in any order" if loop.unordered else ""
    condition = f"{loop.comparison} {loop.bound}"
    return f"for {loop.variable} from {loop.start} while {condition} step {loop.step}{leaves}"


def _statement_line(statement: Statement) -> str:
    parts = [statement.text]
    parts += [f"{operation} x{count}" for operation, count in statement.operations]
    for access in statement.accesses:
        subscripts = "".join(f"[{subscript}]" for subscript in access.subscripts)
        member = f".{access.member}" if access.member else ""
        parts.append(f"{access.kind} {access.array}{subscripts}{member}")
    if statement.role != "assign":
        parts.append(statement.role)
    return " | ".join(parts)
