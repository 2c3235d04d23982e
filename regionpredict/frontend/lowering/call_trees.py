"""Computes the size of a called function and its callees, before any call is inlined.

static double square(double x) { return x * x; }
static double norm(double x, double y) {                  norm: 3 visible statements
    return square(x) + square(y);
}

A function counts at each of its calls. Code that ends the program is excluded, including branches
of an `if` that always end it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.candidate_functions import most_expensive_function
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
    """The size of a called function and its callees.

    `statements` is the number of statements that replace the call, and `depth` the nesting of
    calls. `all_visible` is true if each function has a body or is a known library function.
    Recursive calls are excluded.
    """

    statements: int
    depth: int
    all_visible: bool


_MOST_BRANCHES = 6  # maximum number of targets of a call that all become branches
_BRANCHES_OF_MANY = 3  # number of targets that become branches if a call has more targets
_MOST_STATEMENTS_OF_BRANCH = 100  # maximum size of such a target
_FORMATTED_LIST = re.compile(r"(?:__|__builtin_|__builtin___|std::)?v\w*printf(?:_chk)?")
_WRITING = STREAMS | {"operator<<"}
_NOTHING = CallTree(0, 0, all_visible=True)
_MESSAGE = CallTree(1, 0, all_visible=True)
_INVISIBLE = CallTree(1, 0, all_visible=False)


class CallTrees:
    """Computes and caches the call trees of the functions of one unit."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._known: dict[Function, CallTree] = {}
        self._representatives: dict[Functions, Decl | None] = {}
        self._recursive: dict[Function, bool] = {}
        self._callees: dict[Function, frozenset[Function]] = {}
        self._message_writers: dict[Function, bool] = {}

    def representative_target(self, functions: Functions) -> Decl | None:
        """Returns the function that represents several targets of a call. Returns None if their
        memory accesses differ.
        """
        if functions not in self._representatives:
            self._representatives[functions] = most_expensive_function(self._unit, functions)
        return self._representatives[functions]

    def only_writes_messages(self, function: Function) -> bool:
        """Returns whether a function only writes a message, such as `warn("row %d", i)`.

        A message function passes its variable arguments to a function like `vfprintf`. Another
        message function has no loop, sets only local variables, and calls only functions that write
        messages, format text or access no memory.
        """
        if function not in self._message_writers:
            self._message_writers[function] = False  # for recursion
            self._message_writers[function] = self._has_only_messages(function)
        return self._message_writers[function]

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
                if _has_external_store(inner):
                    return False
                if isinstance(inner, CallExpr):
                    kind = self._kind_in_message(inner)
                    if not kind:
                        return False
                    always |= kind == "message" and statement not in optional
        return always

    def _kind_in_message(self, call: CallExpr) -> str:
        """Returns 'message' for a call that writes a message, 'text' for a call that formats text
        or accesses no memory, and "" for other calls.
        """
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        if body is not None:
            return "message" if self.only_writes_messages(body) else ""
        if call.name in MESSAGES or call.name.endswith("va_start"):
            return "message"
        return "text" if is_text(call) or _is_without_memory(call) else ""

    def is_recursive(self, function: Function) -> bool:
        """Returns whether a function may call itself, directly or through other functions."""
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
        """Returns the call tree of a function."""
        if function not in self._known:
            self._known[function] = _NOTHING  # for recursion
            if ends_program(self._unit, function.body):
                self._known[function] = _NOTHING
            elif self.only_writes_messages(function):
                self._known[function] = _MESSAGE
            else:
                inside = self._tree_of_statement(function.body, function)
                self._known[function] = inside._replace(depth=inside.depth + 1)
        return self._known[function]

    def tree_of_loop(self, loop: Stmt | None, function: Function) -> CallTree:
        """Returns the combined call tree of all calls in a loop of `function`."""
        return _NOTHING if loop is None else self._tree_of_statement(loop, function)

    def branch_targets(self, functions: Functions) -> Functions:
        """Returns the possible targets of a call that become branches of an unknown condition.

        The result contains the largest targets with a body, in the given order. If there are many
        targets, only small ones with visible callees are considered. The result is empty for fewer
        than two targets.
        """
        trees = {
            decl: self.tree_of(body) for decl in functions
            if (body := self._unit.body_of(decl)) is not None
        }  # fmt: skip
        many = len(functions) > _MOST_BRANCHES
        if many:
            small = {decl: tree for decl, tree in trees.items()
                     if tree.all_visible
                     and tree.statements <= _MOST_STATEMENTS_OF_BRANCH}  # fmt: skip
            trees = small if len(small) > 1 else trees
        most = _BRANCHES_OF_MANY if many else _MOST_BRANCHES
        largest = sorted(trees, key=lambda decl: -trees[decl].statements)[:most]
        return tuple(decl for decl in functions if decl in largest) if len(largest) > 1 else ()

    def _tree_of_statement(self, statement: Stmt, at: Function) -> CallTree:
        trees = [
            self._trees_of_expression(expression, at) for expression in own_expressions(statement)
        ]
        for inner in inner_statements(statement):
            if not (isinstance(statement, If) and self._is_excluded(statement, inner, at)):
                trees.append(self._tree_of_statement(inner, at))
        return _combined_trees(trees)

    def _is_excluded(self, statement: If, side: Stmt, at: Function) -> bool:
        """Returns whether a branch always ends the program or calls a hook without a known
        target.
        """
        if ends_program(self._unit, side):
            return True
        hook = optional_call(
            statement.condition, side, lambda call: called_functions(self._unit, call, at)
        )
        return side is statement.then and hook is not None

    def _trees_of_expression(self, expression: Expression, at: Function) -> CallTree:
        calls = [self._call(inner, at) for inner in every_expression(expression)
                 if isinstance(inner, CallExpr)]  # fmt: skip
        return _combined_trees([CallTree(1, 0, all_visible=True), *calls])

    def _call(self, call: CallExpr, at: Function) -> CallTree:
        pointed = called_functions(self._unit, call, at)
        target = self.representative_target(pointed)
        if target is not None:
            call = call._replace(name=target.name, decl=target, pointer=None)
        elif pointed:  # a caller that is inlined may hand one of them on
            bodies = [self._unit.body_of(decl) for decl in self.branch_targets(pointed)]
            trees = [self.tree_of(body) for body in bodies if body is not None]
            return _combined_trees(trees) if trees else _INVISIBLE
        function = self._unit.body_of(call.decl) if call.decl is not None else None
        if function is not None:
            return self.tree_of(function)
        return _NOTHING if call.free or _is_known(call) else _INVISIBLE


def _has_external_store(expression: Expression) -> bool:
    """Returns whether the expression assigns something other than a local variable."""
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


def _combined_trees(trees: list[CallTree]) -> CallTree:
    return CallTree(
        sum(tree.statements for tree in trees),
        max((tree.depth for tree in trees), default=0),
        all(tree.all_visible for tree in trees),
    )
