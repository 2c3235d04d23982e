"""Runs the loops of a sample on small sizes and counts, for the tests alone.

Nothing is derived: the control flow around a worksharing loop and the loops in it are carried
out with integers, and every execution of a statement and every element touched is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pycparser import c_ast
from region_reader import Region, Statement

Environment = dict[str, int]
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(a / b),
    "%": lambda a, b: a - b * int(a / b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b),
    "||": lambda a, b: bool(a or b),
    "&": lambda a, b: a & b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}


class UnknownValue(Exception):
    """An expression needs something that is not an integer known here."""


@dataclass
class Tally:
    """What one run of a region did.

    `executions` by position of the statement; `boxes` by array: per dimension the smallest and
    the largest subscript, or None for an array touched through another array's values.
    """

    iterations: int = 0
    executions: Counter[int] = field(default_factory=Counter)
    boxes: dict[str, list[tuple[int, int]] | None] = field(default_factory=dict)


def evaluate(node: c_ast.Node, env: Environment) -> int:
    """The value of an integer expression."""
    if isinstance(node, c_ast.Constant) and node.type in {"int", "unsigned int"}:
        return int(node.value.rstrip("uU"), 0)
    if isinstance(node, c_ast.ID) and node.name in env:
        return env[node.name]
    if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "!"}:
        value = evaluate(node.expr, env)
        return -value if node.op == "-" else int(not value)
    if isinstance(node, c_ast.BinaryOp) and node.op in _BINARY:
        return int(_BINARY[node.op](evaluate(node.left, env), evaluate(node.right, env)))
    if isinstance(node, c_ast.TernaryOp):
        branch = node.iftrue if evaluate(node.cond, env) else node.iffalse
        return evaluate(branch, env)
    raise UnknownValue(type(node).__name__)


def parameters(function: c_ast.FuncDef) -> list[str]:
    """The names of a function's integer scalar parameters, in order."""
    found = []
    for decl in function.decl.type.args.params:
        if isinstance(decl.type, c_ast.TypeDecl) and decl.type.type.names == ["int"]:
            found.append(decl.name)
    return found


def contexts(
    function: c_ast.FuncDef, loops: list[c_ast.For], sizes: Environment
) -> Iterator[tuple[int, Environment]]:
    """Carries a function out; yields (position of the region, integers known) at each region."""
    positions = {id(loop): position for position, loop in enumerate(loops)}
    env = dict(sizes)
    yield from _run(function.body, env, positions)


def _run(
    node: c_ast.Node, env: Environment, positions: dict[int, int]
) -> Iterator[tuple[int, Environment]]:
    if id(node) in positions:
        yield positions[id(node)], dict(env)
    elif isinstance(node, c_ast.For):
        for _ in _turns(node, env):
            yield from _run(node.stmt, env, positions)
    elif isinstance(node, c_ast.Compound):
        for item in node.block_items or []:
            yield from _run(item, env, positions)
    elif isinstance(node, c_ast.If):
        branch = node.iftrue if evaluate(node.cond, env) else node.iffalse
        if branch is not None:
            yield from _run(branch, env, positions)
    else:
        _note(node, env)


def _turns(loop: c_ast.For, env: Environment) -> Iterator[None]:
    """Carries a loop's header out, one turn at a time."""
    if isinstance(loop.init, c_ast.DeclList):
        for decl in loop.init.decls:
            env[decl.name] = evaluate(decl.init, env)
    else:
        _note(loop.init, env)
    while evaluate(loop.cond, env):
        yield
        _note(loop.next, env)


def _note(node: c_ast.Node, env: Environment) -> None:
    """Carries an integer declaration or assignment out; leaves everything else alone."""
    try:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.TypeDecl):
            if node.type.type.names == ["int"] and node.init is not None:
                env[node.name] = evaluate(node.init, env)
        elif isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            value = evaluate(node.rvalue, env)
            name = node.lvalue.name
            env[name] = value if node.op == "=" else _BINARY[node.op[:-1]](env[name], value)
        elif isinstance(node, c_ast.UnaryOp) and isinstance(node.expr, c_ast.ID):
            env[node.expr.name] += 1 if "++" in node.op else -1
    except (UnknownValue, KeyError):
        return


def tally(region: Region, env: Environment) -> Tally:
    """Runs one region with the given integers."""
    result = Tally()
    places = {id(statement.node): n for n, statement in enumerate(region.statements)}

    def run(node: c_ast.Node, env: Environment, depth: int) -> None:
        if isinstance(node, c_ast.For):
            for _ in _turns(node, env):
                if depth == region.collapse:
                    result.iterations += 1
                run(node.stmt, env, depth + 1)
        elif isinstance(node, c_ast.Compound):
            for item in node.block_items or []:
                run(item, env, depth)
        elif isinstance(node, c_ast.If):
            touch(node.cond, env)
            branch = node.iftrue if evaluate(node.cond, env) else node.iffalse
            if branch is not None:
                run(branch, env, depth)
        elif id(node) in places:
            touch(node, env)
            _note(node, env)

    def touch(node: c_ast.Node, env: Environment) -> None:
        place = places[id(node)]
        result.executions[place] += 1
        _touch(region.statements[place], env, result)

    run(region.loop, dict(env), 1)
    return result


def _touch(statement: Statement, env: Environment, result: Tally) -> None:
    for ref in statement.references:
        try:
            element = [evaluate(subscript, env) for subscript in ref.subscripts]
        except UnknownValue:
            result.boxes[ref.array] = None
            continue
        box = result.boxes.setdefault(ref.array, [(index, index) for index in element])
        if box is not None:
            result.boxes[ref.array] = [
                (min(low, index), max(high, index))
                for (low, high), index in zip(box, element, strict=True)
            ]


def touched_bytes(region: Region, env: Environment, result: Tally) -> int:
    """Bytes of the bounding boxes of all arrays of a run, summed; an array touched through
    another array's values counts whole."""
    total = 0
    for array, box in result.boxes.items():
        variable = region.variables[array]
        elements = 1
        if box is None:
            for extent in variable.extents:
                elements *= evaluate(extent, env)
        else:
            for low, high in box:
                elements *= high - low + 1
        total += elements * variable.element_bytes
    return total
