"""The memory of an interpreted program: numbers, strings, addresses, and unknown values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ctypes import c_float
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.frontend.syntax import CType, Decl
from regionpredict.frontend.syntax.binary_operators import BY_IF, chosen
from regionpredict.frontend.syntax.integer_types import converted, whole
from regionpredict.ir import Expr


class Text(NamedTuple):
    """A `char *`: a string constant and a position in it.

    `argument` is the number of the program's argument that contains the string, or None.
    """

    text: str
    offset: int = 0
    argument: int | None = None

    @property
    def rest(self) -> str:
        """The text from this position to the end of the string."""
        return self.text[self.offset :]


class Arguments(NamedTuple):
    """A pointer into `argv`, with the number of the argument that it points to."""

    first: int = 0


Step = str | int
"""The name of a member or the number of an element."""


class Place(NamedTuple):
    """A memory location: a variable, and the path of members and elements inside it."""

    decl: Decl
    steps: tuple[Step, ...] = ()

    def at(self, step: Step) -> Place:
        """Returns the location of a member or an element inside this location."""
        return Place(self.decl, (*self.steps, step))


def array_at(place: Place) -> Place:
    """Returns the array that contains an element. Any other location is returned unchanged."""
    inside = bool(place.steps) and isinstance(place.steps[-1], int)
    return Place(place.decl, place.steps[:-1]) if inside else place


class Address(NamedTuple):
    """A pointer to a memory location."""

    place: Place


class Struct(NamedTuple):
    """The known values inside a struct that is used by value, as pairs of path and value."""

    inside: frozenset[tuple[tuple[Step, ...], Value]]


class _Unknown:
    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = _Unknown()
Value = int | float | Expr | Text | Arguments | Address | Struct | _Unknown
"""An `Expr` is an integer in terms of names. Each name represents its value at the start of the
interpretation.
"""


Steps = tuple[Step, ...]
Contents = Mapping[Steps, Value]
"""The known values of a variable, by path."""
BYTES = "(bytes)"
"""The last step of the path to the number of bytes of a memory block. No member has this name."""
_FASTER_COPIED = 8  # comparing a variable takes this many times as long as copying it
MOST_VALUES = 512  # maximum known values of one variable; long arrays do not contain sizes


@dataclass(slots=True)
class CopyCount:
    """Counts the variables that are visited when memories are copied and compared."""

    variables: int = 0


@dataclass(slots=True)
class Memory:
    """The known values by variable and path. All other values are unknown.

    The contents of a variable are replaced and never changed, so that copies can share them. Only
    the first `MOST_VALUES` values of an array are kept. `overwritten` says that any variable may
    have changed, including variables without known values. `first` gives the initial values of
    global variables, and `copied` counts the cost of copying. All copies share `first` and
    `copied`. A variable in `first` but not in `values` was never written unless `overwritten`.
    """

    values: dict[Decl, Contents] = field(default_factory=dict)
    overwritten: bool = False
    first: dict[Decl, Contents] = field(default_factory=dict)
    copied: CopyCount = field(default_factory=CopyCount, compare=False)

    def contents(self, decl: Decl) -> Contents | None:
        """Returns the known values of a variable, or its initial values if it was never written."""
        own = self.values.get(decl)
        return own if own is not None or self.overwritten else self.first.get(decl)

    def known(self) -> list[tuple[Decl, Contents]]:
        """Returns the variables with known values, and these values."""
        own = self.values
        found = [(decl, contents) for decl, contents in own.items() if contents]
        if not self.overwritten:
            found += [
                (decl, contents) for decl, contents in self.first.items()
                if contents and decl not in own
            ]  # fmt: skip
        return found

    def read(self, place: Place) -> Value:
        """Returns the value at a memory location."""
        return (self.contents(place.decl) or _NOTHING).get(place.steps, UNKNOWN)

    def write(self, place: Place, value: Value, ctype: CType | None = None) -> None:
        """Stores a value at a memory location, converted to the location's type."""
        own = self.contents(place.decl) or _NOTHING
        if value is UNKNOWN or (len(own) >= MOST_VALUES and place.steps not in own):
            if place.steps in own:
                self._keep(place.decl, {at: kept for at, kept in own.items() if at != place.steps})
        else:
            self._keep(place.decl, {**own, place.steps: as_type(value, ctype)})

    def inside(self, place: Place) -> dict[Steps, Value]:
        """Returns the values at and inside a memory location, by relative path."""
        length = len(place.steps)
        own = self.contents(place.decl) or _NOTHING
        return {at[length:]: kept for at, kept in own.items() if at[:length] == place.steps}

    def move(self, old: Place, new: Place, ctype: CType) -> None:
        """Moves the values at and inside one memory location to another location."""
        moved = self.inside(old)
        if moved:
            self.forget(old)
        for steps, value in moved.items():
            self.write(Place(new.decl, (*new.steps, *steps)), value, None if steps else ctype)

    def forget(self, place: Place) -> None:
        """Makes a memory location unknown, including everything inside it and everything that
        contains it.

        The length of an allocated block stays known.
        """
        own = self.contents(place.decl)
        if own is not None:
            self._keep(place.decl, {
                at: value for at, value in own.items()
                if at == (BYTES,)
                or any(step != other for step, other in zip(at, place.steps, strict=False))
            })  # fmt: skip

    def keep_if(self, decl: Decl, stays: Callable[[Steps, Value], bool]) -> None:
        """Discards the values inside a variable for which the condition `stays` is false."""
        own = self.contents(decl)
        if own and not all(stays(at, value) for at, value in own.items() if at[-1:] != (BYTES,)):
            self._keep(decl, {at: value for at, value in own.items()
                              if at[-1:] == (BYTES,) or stays(at, value)})  # fmt: skip

    def drop(self, decls: Iterable[Decl]) -> None:
        """Removes variables at the end of their lifetime."""
        for decl in decls:
            self.values.pop(decl, None)

    def forget_all(self) -> None:
        """Makes all memory locations unknown."""
        self.values.clear()
        self.overwritten = True

    def common(self, other: Memory) -> Memory:
        """Returns the values that are equal in both memories."""
        self.copied.variables += len(self.values)
        same = {decl: mine for decl, mine in self.values.items() if other.values.get(decl) is mine}
        for decl in (*self.values, *other.values):
            if decl in same:  # most variables, since copies share unwritten values
                continue
            own, others = self.contents(decl) or _NOTHING, other.contents(decl) or _NOTHING
            both = own if own is others else {
                at: value for at, value in own.items() if others.get(at, UNKNOWN) == value
            }  # fmt: skip
            if both or decl in self.first:
                same[decl] = both or {}
        return Memory(same, self.overwritten or other.overwritten, self.first, self.copied)

    def choice(self, other: Memory, test: Value) -> Memory:
        """Returns the values after a condition: from this memory if `test` holds, otherwise from
        the other memory.
        """
        both = self.common(other)
        for decl in self.values | other.values if isinstance(test, Expr) else ():
            own, others = self.contents(decl) or _NOTHING, other.contents(decl) or _NOTHING
            for at, value in own.items() if own is not others else ():
                one = choice(test, value, others.get(at, UNKNOWN))
                if one is not UNKNOWN:
                    both.write(Place(decl, at), one)
        return both

    def known_only_here(self, other: Memory) -> set[Place]:
        """Returns the locations that have a value here but not in the other memory. The other
        memory must not have values that are unknown here.
        """
        places = set[Place]()
        for decl, own in self.values.items():
            left = other.contents(decl) or _NOTHING
            if own is not left:
                places.update(Place(decl, at) for at in own if at not in left)
        return places

    def forget_values(self, places: Iterable[Place]) -> None:
        """Discards the values at these locations, but not the values inside them."""
        for place in places:
            self.write(place, UNKNOWN)

    def copy(self) -> Memory:
        """Returns an independent copy of the memory."""
        self.copied.variables += len(self.values) // _FASTER_COPIED
        return Memory(dict(self.values), self.overwritten, self.first, self.copied)

    def _keep(self, decl: Decl, own: Contents) -> None:
        if own or decl in self.first:
            self.values[decl] = own
        else:
            self.values.pop(decl, None)


_NOTHING: Contents = MappingProxyType({})
_MOST_PARTS = 80  # maximum size of a value that is an expression in names


def choice(test: Value, if_true: Value, if_false: Value, label: str = BY_IF) -> Value:
    """Returns one of two values, depending on a condition. Unknown if the condition is not an
    expression in names.
    """
    if if_true == if_false:
        return if_true
    first, second = in_names(if_true), in_names(if_false)
    if not isinstance(test, Expr) or first is None or second is None:
        return UNKNOWN
    return short(chosen(test, first, second, label))


def in_names(value: Value) -> Expr | None:
    """Returns an integer, or a value in terms of names, as an expression. None for other values."""
    if isinstance(value, Expr):
        return value
    return Expr.const(value) if isinstance(value, int) else None


def short(value: Expr) -> Value:
    """Returns the expression, or a number if it is constant. Unknown if the expression is long."""
    if value.size > _MOST_PARTS or "call" in value.kinds:
        return UNKNOWN
    known = value.constant
    return value if known is None else known if isinstance(known, int) else UNKNOWN


def as_type(value: Value, ctype: CType | None) -> Value:
    """Converts a number to a type: truncated to an integer, or to the number of bits.

    >>> as_type(3.9, CType("int", 32)), as_type(300, CType("int", 8))
    (3, 44)
    >>> as_type(7, CType("float", 64))
    7.0
    """
    if isinstance(value, Expr) and ctype is not None:
        return converted(value, ctype) if ctype.kind == "int" else UNKNOWN
    if ctype is None or not isinstance(value, (int, float)):
        return value
    if ctype.kind not in ("int", "float"):
        return value
    try:
        if ctype.kind == "float":
            if ctype.bits > 64:
                return UNKNOWN  # a Python number has fewer digits
            return c_float(value).value if ctype.bits == 32 else float(value)
        return whole(int(value), ctype)
    except (ValueError, OverflowError):
        return UNKNOWN
