"""Finds classes with exactly one object in the program. Members of such an object then have one
name in all functions.

    void f(Domain &domain) { ... domain.m_n ... }
    void Domain::g() { ... m_n ... }                 all three are `domain.m_n`
    int main() { Domain *d = new Domain; ... d->m_n ... }

A class qualifies only if it has no second variable, array, copy or derived class, and if no
function has two parameters of this class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    UNKNOWN,
    Binary,
    Cast,
    Decl,
    DeclStmt,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Opaque,
    Unary,
    every_statement,
    expressions_in,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir import Span


class ClassObjects(NamedTuple):
    """The objects of each class that the functions of a unit create or use.

    `objects` contains the class, the location of creation, and the index at this location.
    `several` lists classes with several objects or derived classes. `called` counts the uses of
    each name of an object, by class and name.
    """

    objects: frozenset[tuple[str, Span, int]] = frozenset()
    several: frozenset[str] = frozenset()
    called: tuple[tuple[str, str, int], ...] = ()


def class_objects(functions: Iterable[Function], base_classes: frozenset[str]) -> ClassObjects:
    """Returns the objects that these functions create or receive."""
    census = _ObjectCollector()
    for function in functions:
        census.visit(function)
    derived_from = {name for name, _ in census.called if _last_word(name) in base_classes} | {
        name for name, _, _ in census.objects if _last_word(name) in base_classes
    }
    called = tuple((*key, count) for key, count in sorted(census.called.items()))
    return ClassObjects(frozenset(census.objects), frozenset(census.several | derived_from), called)


def sole_objects(units: Iterable[ClassObjects]) -> dict[str, str]:
    """Maps each class with a single object in the program to the object's most frequent name."""
    objects: dict[str, set[tuple[str, Span, int]]] = {}
    called: dict[str, Counter[str]] = {}
    several: set[str] = set()
    for unit in units:
        several |= unit.several
        for object_ in unit.objects:
            objects.setdefault(object_[0], set()).add(object_)
        for name, word, count in unit.called:
            called.setdefault(name, Counter())[word] += count
    return {
        name: max(sorted(words), key=lambda word: words[word])
        for name, words in called.items()
        if name not in several and len(objects.get(name, ())) <= 1
    }


class _ObjectCollector:
    def __init__(self) -> None:
        self.objects: set[tuple[str, Span, int]] = set()
        self.several: set[str] = set()
        self.called: Counter[tuple[str, str]] = Counter()

    def visit(self, function: Function) -> None:
        parameter_classes = Counter(
            filter(None, (parameter.ctype.class_name for parameter in function.parameters))
        )
        self.several.update(name for name, count in parameter_classes.items() if count > 1)
        for parameter in function.parameters:
            name = parameter.ctype.class_name
            if name and parameter.ctype.kind == "struct":
                self.several.add(name)  # a copy
            elif name and parameter.name != "this":
                self.called[name, parameter.name] += 1
        for statement in every_statement(function.body):
            if isinstance(statement, DeclStmt):
                for decl in statement.decls:
                    self._record_declaration(decl)
        for at, expression in enumerate(expressions_in(function.body)):
            self._record_expression(expression, function.span, at)

    def _record_declaration(self, decl: Decl) -> None:
        ctype = decl.ctype
        name = ctype.class_name
        if name:
            self.called[name, decl.name] += 1
            if ctype.kind == "struct":
                self.objects.add((name, decl.span, 0))
        elif ctype.element is not None and ctype.element.class_name:
            self.several.add(ctype.element.class_name)

    def _record_expression(self, expression: Expression, where: Span, at: int) -> None:
        if isinstance(expression, Cast) and isinstance(expression.operand, Opaque):
            if expression.operand.text == "new" and expression.ctype.class_name:
                self.objects.add((expression.ctype.class_name, where, at))
        elif isinstance(expression, Name):
            if expression.decl.kind in ("global", "static"):
                self._record_declaration(expression.decl)
        elif isinstance(expression, Member):
            field = expression.field
            if field.ctype.kind == "struct" and field.ctype.name:
                self.objects.add((field.ctype.name, field.span, 0))
            elif field.ctype.name and field.ctype.element is not None:
                self.several.add(field.ctype.element.class_name)  # elements of a container
        elif isinstance(expression, (Index, Binary, Unary)):
            self._record_pointer_arithmetic(expression)

    def _record_pointer_arithmetic(self, expression: Index | Binary | Unary) -> None:
        """Records that pointer arithmetic shows several objects of a class."""
        if isinstance(expression, Index):
            moved: tuple[Expression, ...] = (expression.base,)
        elif isinstance(expression, Binary):
            sums = expression.op in ("+", "-")
            moved = (expression.left, expression.right) if sums else ()
        else:
            moved = (expression.operand,) if expression.op in INCREMENT_OPERATORS else ()
        for inner in moved:
            ctype = type_of(inner) if isinstance(inner, (Name, Member)) else UNKNOWN
            if ctype.element is not None and ctype.class_name:
                self.several.add(ctype.class_name)


def _last_word(name: str) -> str:
    return name.split("<", maxsplit=1)[0].rsplit("::", maxsplit=1)[-1]
