"""Compiles expressions that are evaluated many times to Python functions.

An expression is a polynomial whose atoms are operators on expressions. Traversing it for each value
takes ten times as long as its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from types import MappingProxyType
from typing import Any, Protocol

from regionpredict.ir.folding import Number, fold_of

Function = Callable[[Mapping[str, Number]], Number]


class Polynomial(Protocol):
    """An expression as the compiler needs it. The keys of its terms are pairs (factor, power),
    where a factor is a name or an operator.
    """

    @property
    def size(self) -> int:
        """The number of names, numbers and operators in it."""

    @property
    def terms(self) -> Mapping[Any, Number]:
        """The coefficients."""


class Operator(Protocol):
    """An operator applied to expressions."""

    @property
    def kind(self) -> str:
        """The kind of operator."""

    @property
    def args(self) -> Sequence[Polynomial]:
        """The operands of the expression."""

    @property
    def label(self) -> str:
        """The name of the entity with this value, or the kind of a division."""

    @property
    def over(self) -> frozenset[str]:
        """The loop variables with which a `varying` value changes."""


COMPILED_FROM = 64
"""An expression is compiled after it was evaluated this number of times. Compiling takes about as
long as these evaluations.
"""

_MOST_SIZE = 400  # maximum text length, since shared parts are written at each use
_INLINE = {
    "floordiv": "({} // {})", "lt": "(1 if {} < {} else 0)", "le": "(1 if {} <= {} else 0)",
    "eq": "(1 if {} == {} else 0)", "ne": "(1 if {} != {} else 0)", "not": "(0 if {} else 1)",
}  # fmt: skip


class _NoFunctionError(Exception):
    """Raised if the expression has no value for any values of its names, or is too large."""


def compiled(
    expression: Polynomial, carried: Callable[[Any, Mapping[str, Number]], Number | None]
) -> Function | None:
    """The expression as a function of the values of its names. None if it has no value or is too
    large.

    The function raises KeyError for a name without a value and ZeroDivisionError for a division by
    zero. It may return a whole number as a Fraction. `carried` computes the final value of a
    recurrence.
    """
    if expression.size > _MOST_SIZE:
        return None
    try:
        writer = _Writer(carried)
        text = f"lambda names: {writer.expression(expression)}"
        made: Function = eval(text, writer.constants)
    except (_NoFunctionError, SyntaxError, RecursionError, MemoryError):
        return None
    return made


def compiled_count(
    goes_on: Polynomial, states: Mapping[str, tuple[Polynomial, Polynomial]],
    names: Sequence[str], most: int,
) -> Callable[[Mapping[str, Number]], int | None] | None:  # fmt: skip
    """A function that counts how often states can be replaced while a condition is true.

    The key of `states` is the label, and the values are the first and the next value. The function
    takes the values of `names`. It returns None after `most` steps, or if a step changes nothing.
    The compiled function is None if the expressions contain other recurrences or are too large.
    """
    if any(part.size > _MOST_SIZE for part in (goes_on, *chain(*states.values()))):
        return None
    own = {label: f"s{number}" for number, label in enumerate(states)}
    read = {name: f"n{number}" for number, name in enumerate(names) if name not in own}
    writer = _Writer(None, {**read, **own})
    try:
        first = ", ".join(writer.expression(value) for value, _ in states.values())
        after = ", ".join(f"reduced({writer.expression(value)})" for _, value in states.values())
        held = ", ".join(own.values())
        text = "\n".join((
            "def count(names):",
            *(f"    {local} = names[{name!r}]" for name, local in read.items()),
            f"    {held}, = {first},",
            f"    for number in range({most} + 1):",
            f"        if not {writer.expression(goes_on)}:",
            "            return number",
            f"        after = {after},",
            f"        if after == ({held},):",
            "            return None",
            f"        {held}, = after",
        ))  # fmt: skip
        scope = {**writer.constants, "reduced": reduced}
        exec(text, scope)
    except (_NoFunctionError, SyntaxError, RecursionError, MemoryError):
        return None
    count: Any = scope["count"]

    def counted(values: Mapping[str, Number]) -> int | None:
        try:
            number: int | None = count(values)
        except (KeyError, ZeroDivisionError):
            return None
        return number

    return counted


def reduced(number: Number) -> Number:
    """The same number, as an integer if it is one."""
    # Not `isinstance`, which is slow for the abstract base class of fractions.
    if type(number) is Fraction and number.denominator == 1:
        return number.numerator
    return number


class _Writer:
    """Converts expressions to Python text. `constants` are the objects that the text refers to.

    `local` maps names to Python variables. Without `carried`, there is no text for recurrences.
    """

    def __init__(
        self, carried: Callable[[Any, Mapping[str, Number]], Number | None] | None,
        local: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self._carried = carried
        self._local = local
        self.constants: dict[str, object] = {}

    def expression(self, expression: Polynomial) -> str:
        """The Python text of a polynomial."""
        terms = []
        for monomial, coefficient in expression.terms.items():
            factors = [] if coefficient == 1 and monomial else [self._number(coefficient)]
            for factor, power in monomial:
                base = self._name(factor) if isinstance(factor, str) else self._atom(factor)
                factors.append(base if power == 1 else f"{base}**{power}")
            terms.append("*".join(factors))
        return f"({' + '.join(terms)})" if terms else "0"

    def _name(self, name: str) -> str:
        return self._local.get(name, f"names[{name!r}]")

    def _number(self, number: Number) -> str:
        return self._constant(number) if isinstance(number, Fraction) else f"({number})"

    def _constant(self, value: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def _atom(self, atom: Operator) -> str:
        if atom.kind == "state" or (atom.kind == "varying" and not atom.over):
            return self._name(atom.label)
        if atom.kind in ("trips", "carried"):
            return f"{self._constant(self._known(atom))}(names)"
        fold = fold_of(atom.kind, atom.label)
        if fold is None:
            raise _NoFunctionError
        args = [self.expression(arg) for arg in atom.args]
        if not atom.label and atom.kind in _INLINE:
            return _INLINE[atom.kind].format(*args)
        return f"{self._constant(fold)}({', '.join(args)})"

    def _known(self, atom: Operator) -> Function:
        carried = self._carried
        if carried is None:
            raise _NoFunctionError

        def value(names: Mapping[str, Number]) -> Number:
            found = carried(atom, names)
            if found is None:
                raise KeyError(atom.label)
            return found

        return value
