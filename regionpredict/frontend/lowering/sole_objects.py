"""Classes of which a program has one object, so that a member has one name in all its functions.

    void f(Domain &domain) { ... domain.m_n ... }
    void Domain::g() { ... m_n ... }                 all three are `domain.m_n`
    int main() { Domain *d = new Domain; ... d->m_n ... }

Told only where nothing speaks against it: no second variable, no array, no copy, no function that
is handed two, no class derived from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from regionpredict.frontend.requests import is_cpp
from regionpredict.frontend.syntax import (
    Binary,
    Cast,
    CType,
    Decl,
    DeclStmt,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Opaque,
    Unary,
    Unit,
    every_statement,
    expressions_in,
)

_MANY = 2


def sole_objects(unit: Unit) -> Mapping[str, str]:
    """Class -> the name of its one object: what most functions call it."""
    if not is_cpp(unit.path):
        return {}
    found = _Objects()
    for function in unit.bodies():
        found.look_at(function)
    bases = unit.base_classes
    return {
        name: max(sorted(called), key=lambda one: called[one])
        for name, called in found.called.items()
        if len(found.objects.get(name, ())) < _MANY
        and name not in found.several
        and _last_word(name) not in bases
    }


def class_of(ctype: CType) -> str:
    """The class of a variable, or of what it refers or points to; "" for anything else."""
    if ctype.kind == "pointer" and not ctype.name and ctype.element is not None:
        ctype = ctype.element
    return ctype.name if ctype.kind == "struct" else ""


class _Objects:
    """What the functions say: the objects of each class, and what they are called."""

    def __init__(self) -> None:
        self.objects: dict[str, set[Decl | Expression]] = {}
        self.several: set[str] = set()
        self.called: dict[str, Counter[str]] = {}

    def look_at(self, function: Function) -> None:
        handed = Counter(filter(None, (class_of(one.ctype) for one in function.parameters)))
        self.several.update(name for name, count in handed.items() if count >= _MANY)
        for parameter in function.parameters:
            name = class_of(parameter.ctype)
            if name and parameter.ctype.kind == "struct":
                self.several.add(name)  # a copy
            elif name and parameter.name != "this":
                self._call(name, parameter.name)
        for statement in every_statement(function.body):
            if isinstance(statement, DeclStmt):
                for decl in statement.decls:
                    self._declared(decl)
        for expression in expressions_in(function.body):
            self._expression(expression)

    def _call(self, name: str, called: str) -> None:
        self.called.setdefault(name, Counter())[called] += 1

    def _declared(self, decl: Decl) -> None:
        ctype = decl.ctype
        if ctype.kind == "struct" and ctype.name:
            self.objects.setdefault(ctype.name, set()).add(decl)
            self._call(ctype.name, decl.name)
        elif class_of(ctype):
            self._call(class_of(ctype), decl.name)
        elif ctype.element is not None and class_of(ctype.element):
            self.several.add(class_of(ctype.element))

    def _expression(self, expression: Expression) -> None:
        if isinstance(expression, Cast) and isinstance(expression.operand, Opaque):
            name = class_of(expression.ctype)
            if name and expression.operand.text == "new":
                self.objects.setdefault(name, set()).add(expression)
        elif isinstance(expression, Name):
            if expression.decl.kind in ("global", "static"):
                self._declared(expression.decl)
        elif isinstance(expression, Member):
            ctype = expression.field.ctype
            if ctype.kind == "struct" and ctype.name:
                self.objects.setdefault(ctype.name, set()).add(expression.field)
            elif ctype.element is not None and class_of(ctype.element) and ctype.name:
                self.several.add(class_of(ctype.element))
        elif isinstance(expression, (Index, Binary, Unary)):
            self._moved(expression)

    def _moved(self, expression: Index | Binary | Unary) -> None:
        """A pointer that is moved goes through several objects."""
        if isinstance(expression, Index):
            moved: tuple[Expression, ...] = (expression.base,)
        elif isinstance(expression, Binary):
            sums = expression.op in ("+", "-")
            moved = (expression.left, expression.right) if sums else ()
        else:
            moved = (expression.operand,) if expression.op in ("++", "--", "p++", "p--") else ()
        for one in moved:
            ctype = _declared_type(one)
            if ctype is not None and ctype.element is not None and class_of(ctype):
                self.several.add(class_of(ctype))


def _declared_type(expression: Expression) -> CType | None:
    if isinstance(expression, Name):
        return expression.decl.ctype
    return expression.field.ctype if isinstance(expression, Member) else None


def _last_word(name: str) -> str:
    return name.split("<", maxsplit=1)[0].rsplit("::", maxsplit=1)[-1]
