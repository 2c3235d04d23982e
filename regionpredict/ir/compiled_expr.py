"""Expressions as Python functions: what is evaluated again and again is compiled once.

An expression is a polynomial whose atoms are operators on expressions; walking over it for each
value costs ten times what its operations do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

Number = int | Fraction
Function = Callable[[Mapping[str, Number]], Number]
FoldOf = Callable[[str, str], Callable[..., Number] | None]


class Polynomial(Protocol):
    """An expression, as far as it is written as Python; its terms are by (factor, power), and a
    factor is a name or an operator."""

    @property
    def size(self) -> int:
        """Names, numbers and operators in it."""

    @property
    def terms(self) -> Mapping[Any, Number]:
        """The coefficients."""


class Operator(Protocol):
    """What is applied to expressions."""

    @property
    def kind(self) -> str:
        """Which one."""

    @property
    def args(self) -> Sequence[Polynomial]:
        """Its operands."""

    @property
    def label(self) -> str:
        """The name of what has the value, or the kind of a division."""

    @property
    def over(self) -> frozenset[str]:
        """The loop variables that a value changes with."""


COMPILED_FROM = 64
"""Evaluations after which an expression is compiled, which takes as long as about so many."""

_MOST_SIZE = 400  # of the text: shared parts of a larger expression are written once for each use
_INLINE = {
    "floordiv": "({} // {})", "lt": "(1 if {} < {} else 0)", "le": "(1 if {} <= {} else 0)",
    "eq": "(1 if {} == {} else 0)", "ne": "(1 if {} != {} else 0)", "not": "(0 if {} else 1)",
}  # fmt: skip


class _NoFunctionError(Exception):
    """No numbers for its names give the expression a value, or it is too large."""


def compiled(
    expression: Polynomial, fold_of: FoldOf,
    carried: Callable[[Any, Mapping[str, Number]], Number | None],
) -> Function | None:  # fmt: skip
    """The expression's value by what its names are bound to; None where it has none or is large.

    The function raises KeyError where a name has no value, ZeroDivisionError at a division by
    zero; it may give a whole number as a Fraction. `fold_of` has the operators by kind and label,
    `carried` the value of what a recurrence leaves.
    """
    if expression.size > _MOST_SIZE:
        return None
    try:
        writer = _Writer(fold_of, carried)
        text = f"lambda names: {writer.expression(expression)}"
        made: Function = eval(text, writer.constants)
    except (_NoFunctionError, SyntaxError, RecursionError, MemoryError):
        return None
    return made


class _Writer:
    """Writes expressions as Python; `constants` are what the text refers to."""

    def __init__(
        self, fold_of: FoldOf, carried: Callable[[Any, Mapping[str, Number]], Number | None],
    ) -> None:  # fmt: skip
        self._fold_of = fold_of
        self._carried = carried
        self.constants: dict[str, object] = {}

    def expression(self, expression: Polynomial) -> str:
        """A polynomial."""
        terms = []
        for monomial, coefficient in expression.terms.items():
            factors = [] if coefficient == 1 and monomial else [self._number(coefficient)]
            for factor, power in monomial:
                base = f"names[{factor!r}]" if isinstance(factor, str) else self._atom(factor)
                factors.append(base if power == 1 else f"{base}**{power}")
            terms.append("*".join(factors))
        return f"({' + '.join(terms)})" if terms else "0"

    def _number(self, number: Number) -> str:
        return self._constant(number) if isinstance(number, Fraction) else f"({number})"

    def _constant(self, value: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def _atom(self, atom: Operator) -> str:
        if atom.kind == "state" or (atom.kind == "varying" and not atom.over):
            return f"names[{atom.label!r}]"
        if atom.kind in ("trips", "carried"):
            return f"{self._constant(self._known(atom))}(names)"
        fold = self._fold_of(atom.kind, atom.label)
        if fold is None:
            raise _NoFunctionError
        args = [self.expression(arg) for arg in atom.args]
        if not atom.label and atom.kind in _INLINE:
            return _INLINE[atom.kind].format(*args)
        return f"{self._constant(fold)}({', '.join(args)})"

    def _known(self, atom: Operator) -> Function:
        def value(names: Mapping[str, Number]) -> Number:
            found = self._carried(atom, names)
            if found is None:
                raise KeyError(atom.label)
            return found

        return value
