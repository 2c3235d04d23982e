"""The operations between a scalar that an expression reads and the value of the expression.

A value that is carried between iterations waits for these operations in sequence. Other operations
of the expression run in parallel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from regionpredict.frontend.syntax import CallExpr, CType

Paths = Mapping[str, tuple[str, ...]]
"""For each scalar, the kinds of the operations on its longest path, in order."""

_ELEMENT = "*"


def element(text: str) -> str:
    """Returns the name of an array element in dependency paths (`a[i]`). No scalar has such a name.

    >>> element("a[i]"), element_text(element("a[i]")), element_text("s")
    ('*a[i]', 'a[i]', None)
    """
    return _ELEMENT + text


def element_text(name: str) -> str | None:
    """Returns the array element at the start of a path. Returns None for a scalar."""
    return name.removeprefix(_ELEMENT) if name.startswith(_ELEMENT) else None


MOST_OPERATIONS = 64
"""Maximum length of a path. A longer path is cut off."""


def with_operation(paths: Paths, kind: str) -> Paths:
    """Returns the paths with another operation appended."""
    return {
        name: path if len(path) == MOST_OPERATIONS else (*path, kind)
        for name, path in paths.items()
    }


def longest_of_each(first: Paths = MappingProxyType({}), *others: Paths) -> Paths:
    """Returns the longest path of each scalar."""
    longest = dict(first)
    for paths in others:
        for name, path in paths.items():
            if name not in longest or len(path) > len(longest[name]):
                longest[name] = path
    return longest


def converted(paths: Paths, from_type: CType, to_type: CType) -> Paths:
    """Returns the paths of a value after its conversion between integer and floating-point
    registers.
    """
    kinds = {from_type.kind, to_type.kind}
    return with_operation(paths, "fp_convert") if kinds == {"int", "float"} else paths


class OperandPaths:
    """Paths through the arguments and return values of inlined functions.

    Paths start at the scalars around the call, as if the function were an expression in
    parentheses.
    """

    def __init__(self) -> None:
        self._given: dict[str, Paths] = {}
        self._returned: dict[CallExpr, Paths] = {}
        self._results: list[Paths] = []

    def of_scalar(self, name: str) -> Paths:
        """Returns the paths of a variable that is read. For a parameter, they are the paths of its
        argument.
        """
        return self._given.get(name, {name: ()})

    def of_call(self, call: CallExpr) -> Paths:
        """Returns the paths through an inlined function. The result is empty for any other
        function.
        """
        return self._returned.get(call, {})

    def assigned(self, name: str) -> None:
        """Records that a parameter was set, so that the paths of its argument no longer apply."""
        self._given.pop(name, None)

    def enter(self, given: Mapping[str, Paths]) -> None:
        """Enters an inlined function. `given` maps each parameter to the paths of its argument."""
        self._given.update(given)
        self._results.append({})

    def returns(self, paths: Paths) -> None:
        """Adds a possible return value of the current function."""
        if self._results:
            self._results[-1] = longest_of_each(self._results[-1], paths)

    def leave(self, call: CallExpr) -> None:
        """Leaves the inlined function."""
        self._returned[call] = self._results.pop()
