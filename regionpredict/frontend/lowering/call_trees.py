"""The size of a called function, including everything that it calls, before any of it is inlined.

static double square(double x) { return x * x; }
static double norm(double x, double y) {                  norm: 3 visible statements
    return square(x) + square(y);
}

Counts include the statements of called functions, so a function counts at each of its calls. Code
that ends the program, and the side of an `if` that always ends it, is excluded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.candidate_functions import representative
from regionpredict.frontend.lowering.function_pointers import (
    Functions,
    called_functions,
    optional_call,
)
from regionpredict.frontend.lowering.library_algorithms import is_algorithm
from regionpredict.frontend.lowering.library_calls import has_loops, is_text
from regionpredict.frontend.lowering.program_ends import ends_program
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Expression,
    For,
    Function,
    If,
    Name,
    RangeFor,
    Stmt,
    Unary,
    While,
    calls_in,
    every_expression,
    every_statement,
    expressions_in,
    inner_statements,
    own_expressions,
    own_parts,
    set_place,
)
from regionpredict.ir.reached import reached
from regionpredict.library import (
    MESSAGES,
    STREAMS,
    arithmetic_of,
    ends_run,
    memory_intrinsic,
    touches_no_memory,
    written_arguments,
)


class CallTree(NamedTuple):
    """A called function with everything that it calls: the `statements` that replace the call, and
    the `depth` of nested calls. `seen` is true if each function has a body or is a known library
    function. A recursive call counts as nothing.
    """

    statements: int
    depth: int
    seen: bool


_MOST_SIDES = 6  # each adds its statements to the region
_SIDES_OF_MANY = 3  # if a call has more targets, which none represents anyway
_MOST_OF_A_SIDE = 100  # statements, if a call has more targets than become sides
_FORMATTED_LIST = re.compile(r"(?:__|__builtin_|__builtin___|std::)?v\w*printf(?:_chk)?")
_WRITING = STREAMS | {"operator<<"}
_NOTHING = CallTree(0, 0, seen=True)
_MESSAGE = CallTree(1, 0, seen=True)
_UNSEEN = CallTree(1, 0, seen=False)


class CallTrees:
    """The call trees of the functions that are visible in one unit, each computed once."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._known: dict[Function, CallTree] = {}
        self._representatives: dict[Functions, Decl | None] = {}
        self._recursive: dict[Function, bool] = {}
        self._callees: dict[Function, frozenset[Function]] = {}
        self._reports: dict[Function, bool] = {}

    def representative(self, functions: Functions) -> Decl | None:
        """Returns the function that represents several targets of a call, as
        `candidate_functions.py` selects it.
        """
        if functions not in self._representatives:
            self._representatives[functions] = representative(self._unit, functions)
        return self._representatives[functions]

    def only_reports(self, function: Function) -> bool:
        """Returns whether a function only writes a message, such as `warn("row %d", i)`. Either it
        formats its variable arguments and writes to a stream. Or it has no loop, sets only local
        variables, and calls only functions that write messages, format text or access no memory.
        """
        if function not in self._reports:
            self._reports[function] = False  # for recursion
            self._reports[function] = self._has_only_messages(function)
        return self._reports[function]

    def _has_only_messages(self, function: Function) -> bool:
        called = {inner.name for inner in expressions_in(function.body)
                  if isinstance(inner, CallExpr)}  # fmt: skip
        if any(map(_FORMATTED_LIST.fullmatch, called)) and not called.isdisjoint(_WRITING):
            return True
        statements = list(every_statement(function.body))
        if any(isinstance(inner, (For, While, RangeFor)) for inner in statements):
            return False
        optional = {
            part for inner in statements if isinstance(inner, If)
            for side in inner_statements(inner) for part in every_statement(side)
        }  # fmt: skip
        always = False
        for statement in statements:
            for inner in own_parts(statement):
                if _sets_others(inner):
                    return False
                if isinstance(inner, CallExpr):
                    kind = self._kind_in_message(inner)
                    if not kind:
                        return False
                    always |= kind == "message" and statement not in optional
        return always

    def _kind_in_message(self, call: CallExpr) -> str:
        """'message' for a call that writes a message, 'text' for another call that a message
        needs.
        """
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        if body is not None:
            return "message" if self.only_reports(body) else ""
        if call.name in MESSAGES or call.name.endswith("va_start"):
            return "message"
        return "text" if is_text(call) or _is_without_memory(call) else ""

    def is_recursive(self, function: Function) -> bool:
        """Returns whether a function may call itself, perhaps through others."""
        if function not in self._recursive:
            self._recursive[function] = function in reached(
                self._direct_callees(function), self._direct_callees
            )
        return self._recursive[function]

    def _direct_callees(self, function: Function) -> frozenset[Function]:
        """Returns the functions with a body that a function calls directly or through pointers."""
        if function not in self._callees:
            targets = list(calls_in(function.body))
            for inner in expressions_in(function.body):
                if isinstance(inner, CallExpr):
                    targets += called_functions(self._unit, inner, function)
            bodies = {self._unit.body_of(decl) for decl in targets}
            self._callees[function] = frozenset(body for body in bodies if body is not None)
        return self._callees[function]

    def tree_of(self, function: Function) -> CallTree:
        """Returns the call tree of a call of the function."""
        if function not in self._known:
            self._known[function] = _NOTHING  # for recursion
            if ends_program(self._unit, function.body):
                self._known[function] = _NOTHING
            elif self.only_reports(function):
                self._known[function] = _MESSAGE
            else:
                inside = self._statement(function.body, function)
                self._known[function] = inside._replace(depth=inside.depth + 1)
        return self._known[function]

    def tree_of_loop(self, loop: Stmt | None, function: Function) -> CallTree:
        """Returns the call tree of a function's loop."""
        return _NOTHING if loop is None else self._statement(loop, function)

    def sides(self, functions: Functions) -> Functions:
        """Returns the possible targets of a call that become branches of a condition, in the given
        order. The condition selects one target. The result is empty if fewer than two targets have
        a body.

        Only the largest targets are kept. If there are many, only those are considered whose calls
        can all be inlined.
        """
        trees = {
            decl: self.tree_of(body) for decl in functions
            if (body := self._unit.body_of(decl)) is not None
        }  # fmt: skip
        many = len(functions) > _MOST_SIDES
        if many:
            short = {decl: tree for decl, tree in trees.items()
                     if tree.seen and tree.statements <= _MOST_OF_A_SIDE}  # fmt: skip
            trees = short if len(short) > 1 else trees
        most = _SIDES_OF_MANY if many else _MOST_SIDES
        largest = sorted(trees, key=lambda decl: -trees[decl].statements)[:most]
        return tuple(decl for decl in functions if decl in largest) if len(largest) > 1 else ()

    def _statement(self, statement: Stmt, at: Function) -> CallTree:
        trees = [self._expression(expression, at) for expression in own_expressions(statement)]
        for inner in inner_statements(statement):
            if not (isinstance(statement, If) and self._is_left_out(statement, inner, at)):
                trees.append(self._statement(inner, at))
        return _together(trees)

    def _is_left_out(self, statement: If, side: Stmt, at: Function) -> bool:
        """Returns whether a branch ends the program or calls an empty hook."""
        if ends_program(self._unit, side):
            return True
        hook = optional_call(
            statement.condition, side, lambda call: called_functions(self._unit, call, at)
        )
        return side is statement.then and hook is not None

    def _expression(self, expression: Expression, at: Function) -> CallTree:
        calls = [self._call(inner, at) for inner in every_expression(expression)
                 if isinstance(inner, CallExpr)]  # fmt: skip
        return _together([CallTree(1, 0, seen=True), *calls])

    def _call(self, call: CallExpr, at: Function) -> CallTree:
        pointed = called_functions(self._unit, call, at)
        meant = self.representative(pointed)
        if meant is not None:
            call = call._replace(name=meant.name, decl=meant, pointer=None)
        elif pointed:  # a caller that is inlined may hand one of them on
            bodies = [self._unit.body_of(decl) for decl in self.sides(pointed)]
            trees = [self.tree_of(body) for body in bodies if body is not None]
            return _together(trees) if trees else _UNSEEN
        function = self._unit.body_of(call.decl) if call.decl is not None else None
        if function is not None:
            return self.tree_of(function)
        return _NOTHING if call.free or _is_known(call) else _UNSEEN


def _sets_others(expression: Expression) -> bool:
    """Returns whether the expression sets something other than a local variable."""
    place = set_place(expression)
    if place is None or (isinstance(expression, Unary) and expression.op == "&"):
        return False
    return not (isinstance(place, Name) and place.decl.kind in ("local", "parameter"))


def _is_without_memory(call: CallExpr) -> bool:
    return call.pointer is None and touches_no_memory(call.name, call.declared_in)


def _is_known(call: CallExpr) -> bool:
    """Returns whether the call is a library function with known memory accesses."""
    name = call.name
    return _is_without_memory(call) or (
        call.pointer is None
        and (
            ends_run(name)
            or is_algorithm(name)
            or has_loops(call)
            or bool(written_arguments(name, len(call.args), call.declared_in))
            or memory_intrinsic(name) is not None
            or arithmetic_of(name, call.declared_in) is not None
        )
    )


def _together(trees: list[CallTree]) -> CallTree:
    return CallTree(
        sum(tree.statements for tree in trees),
        max((tree.depth for tree in trees), default=0),
        all(tree.seen for tree in trees),
    )
