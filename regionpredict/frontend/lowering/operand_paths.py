"""The operations between a scalar that an expression reads and the expression's value.

A loop-carried value waits for these operations in sequence. Other operations of the expression run
in parallel.
"""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.frontend.syntax import CallExpr, CType

Paths = Mapping[str, tuple[str, ...]]
"""By scalar the kinds of operations on its longest way, the first one first."""

_ELEMENT = "*"


def element(text: str) -> str:
    """The name of an array element in dependency paths (`a[i]`), distinct from every scalar.

    >>> element("a[i]"), element_text(element("a[i]")), element_text("s")
    ('*a[i]', 'a[i]', None)
    """
    return _ELEMENT + text


def element_text(name: str) -> str | None:
    """The element that a way goes from; None where that is a scalar."""
    return name.removeprefix(_ELEMENT) if name.startswith(_ELEMENT) else None


MOST_OPERATIONS = 64
"""A longer way is cut off: it is as good as endless."""


def through(paths: Paths, kind: str) -> Paths:
    """The ways with one more operation at their end."""
    return {name: (*path, kind)[:MOST_OPERATIONS] for name, path in paths.items()}


def joined(*several: Paths) -> Paths:
    """The longest way of each scalar."""
    longest: dict[str, tuple[str, ...]] = {}
    for paths in several:
        for name, path in paths.items():
            if name not in longest or len(path) > len(longest[name]):
                longest[name] = path
    return longest


def converted(paths: Paths, from_type: CType, to_type: CType) -> Paths:
    """The ways of a value of one type that is made one of another: a step between integer and
    floating-point registers."""
    kinds = {from_type.kind, to_type.kind}
    return through(paths, "fp_convert") if kinds == {"int", "float"} else paths


class OperandPaths:
    """The arguments of inlined functions, and their return values.

    Both in terms of the scalars around the call: a value goes through a function as through a pair
    of brackets.
    """

    def __init__(self) -> None:
        self._given: dict[str, Paths] = {}
        self._returned: dict[CallExpr, Paths] = {}
        self._results: list[Paths] = []

    def of_scalar(self, name: str) -> Paths:
        """The ways of a variable that is read: of a parameter those of what it was given."""
        return self._given.get(name, {name: ()})

    def of_call(self, call: CallExpr) -> Paths:
        """The ways through a function that was followed; none through others."""
        return self._returned.get(call, {})

    def assigned(self, name: str) -> None:
        """A parameter that is set holds what it was given no longer."""
        self._given.pop(name, None)

    def enter(self, given: Mapping[str, Paths]) -> None:
        """A function is followed; `given` are the ways to its parameters, by their names."""
        self._given.update(given)
        self._results.append({})

    def returns(self, paths: Paths) -> None:
        """The function that is followed now may return this."""
        if self._results:
            self._results[-1] = joined(self._results[-1], paths)

    def leave(self, call: CallExpr) -> None:
        """The function has been followed to its end."""
        self._returned[call] = self._results.pop()
