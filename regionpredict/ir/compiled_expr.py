"""Compiles expressions that are evaluated many times to Python functions.

An expression is a polynomial whose atoms are operators on expressions. Traversing the tree takes
ten times as long as the arithmetic.
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
    """The interface of expressions that the compiler needs. The keys of `terms` are tuples of pairs
    (factor, power). A factor is a name or an operator.
    """

    @property
    def size(self) -> int:
        """The number of names, numbers and operators in the expression."""

    @property
    def terms(self) -> Mapping[Any, Number]:
        """The coefficient of each monomial."""


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
        """The name of the array, function or variable, or the kind of a division."""

    @property
    def over(self) -> frozenset[str]:
        """The loop variables with which a `varying` value changes."""


COMPILED_FROM = 64
"""An expression is compiled after it was evaluated this number of times. Compiling takes about as
long as these evaluations.
"""

_MOST_SIZE = 400  # maximum size, since shared parts are repeated at each use
_INLINE = {
    "floordiv": "({} // {})", "lt": "(1 if {} < {} else 0)", "le": "(1 if {} <= {} else 0)",
    "eq": "(1 if {} == {} else 0)", "ne": "(1 if {} != {} else 0)", "not": "(0 if {} else 1)",
}  # fmt: skip


class _NoFunctionError(Exception):
    """Raised if the expression has no value for any values of its names, or is too large."""


def compiled(
    expression: Polynomial, recurrence_value: Callable[[Any, Mapping[str, Number]], Number | None]
) -> Function | None:
    """Compiles an expression to a function of the values of its names. None if it has no value or
    is too large.

    The function raises KeyError for a name without a value and ZeroDivisionError for a division by
    zero. It may return an integer as a Fraction. `recurrence_value` computes the final value of a
    recurrence.
    """
    if expression.size > _MOST_SIZE:
        return None
    try:
        generator = _CodeGenerator(recurrence_value)
        text = f"lambda names: {generator.expression(expression)}"
        made: Function = eval(text, generator.constants)
    except (_NoFunctionError, SyntaxError, RecursionError, MemoryError):
        return None
    return made


def compiled_count(
    condition: Polynomial, states: Mapping[str, tuple[Polynomial, Polynomial]],
    names: Sequence[str], most: int,
) -> Callable[[Mapping[str, Number]], int | None] | None:  # fmt: skip
    """Compiles a function that counts how often the states can advance while `condition` is true.

    `states` maps the label of a state to its first and next value. The function takes the values of
    `names`. It returns None after `most` steps, or if a step changes nothing. There is no function
    if the expressions contain other recurrences or are too large.
    """
    if any(part.size > _MOST_SIZE for part in (condition, *chain(*states.values()))):
        return None
    own = {label: f"s{number}" for number, label in enumerate(states)}
    read = {name: f"n{number}" for number, name in enumerate(names) if name not in own}
    generator = _CodeGenerator(None, {**read, **own})
    try:
        first = ", ".join(generator.expression(value) for value, _ in states.values())
        after = ", ".join(f"reduced({generator.expression(value)})" for _, value in states.values())
        current = ", ".join(own.values())
        text = "\n".join((
            "def count(names):",
            *(f"    {local} = names[{name!r}]" for name, local in read.items()),
            f"    {current}, = {first},",
            f"    for number in range({most} + 1):",
            f"        if not {generator.expression(condition)}:",
            "            return number",
            f"        after = {after},",
            f"        if after == ({current},):",
            "            return None",
            f"        {current}, = after",
        ))  # fmt: skip
        scope = {**generator.constants, "reduced": reduced}
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
    """Converts a fraction with denominator 1 to an integer. Other numbers are unchanged."""
    # `isinstance` is slow for the abstract base class of fractions.
    if type(number) is Fraction and number.denominator == 1:
        return number.numerator
    return number


class _CodeGenerator:
    """Converts expressions to Python code. `constants` are the objects that the code refers to.

    `local` maps names to Python variables. If `recurrence_value` is None, recurrences are not
    supported.
    """

    def __init__(
        self, recurrence_value: Callable[[Any, Mapping[str, Number]], Number | None] | None,
        local: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self._carried = recurrence_value
        self._local = local
        self.constants: dict[str, object] = {}

    def expression(self, expression: Polynomial) -> str:
        """Returns the Python code of a polynomial."""
        terms = []
        for monomial, coefficient in expression.terms.items():
            factors = [] if coefficient == 1 and monomial else [self._number_code(coefficient)]
            for factor, power in monomial:
                base = (
                    self._name_code(factor) if isinstance(factor, str) else self._atom_code(factor)
                )
                factors.append(base if power == 1 else f"{base}**{power}")
            terms.append("*".join(factors))
        return f"({' + '.join(terms)})" if terms else "0"

    def _name_code(self, name: str) -> str:
        return self._local.get(name, f"names[{name!r}]")

    def _number_code(self, number: Number) -> str:
        return self._add_constant(number) if isinstance(number, Fraction) else f"({number})"

    def _add_constant(self, value: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def _atom_code(self, atom: Operator) -> str:
        if atom.kind == "state" or (atom.kind == "varying" and not atom.over):
            return self._name_code(atom.label)
        if atom.kind in ("trips", "carried"):
            return f"{self._add_constant(self._recurrence_function(atom))}(names)"
        fold = fold_of(atom.kind, atom.label)
        if fold is None:
            raise _NoFunctionError
        args = [self.expression(arg) for arg in atom.args]
        if not atom.label and atom.kind in _INLINE:
            return _INLINE[atom.kind].format(*args)
        return f"{self._add_constant(fold)}({', '.join(args)})"

    def _recurrence_function(self, atom: Operator) -> Function:
        recurrence_value = self._carried
        if recurrence_value is None:
            raise _NoFunctionError

        def value(names: Mapping[str, Number]) -> Number:
            found = recurrence_value(atom, names)
            if found is None:
                raise KeyError(atom.label)
            return found

        return value
