"""What a followed program holds: numbers, texts, addresses, and what is not known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.syntax import CType, Decl


class Text(NamedTuple):
    """A `char *`: a text that nobody writes to, and where in it it points.

    `argument` is the number of the program's argument that it is part of, else None.
    """

    text: str
    offset: int = 0
    argument: int | None = None

    @property
    def rest(self) -> str:
        """The text from here to its end."""
        return self.text[self.offset :]


class Arguments(NamedTuple):
    """A pointer into `argv`: which of the arguments it points to."""

    first: int = 0


Step = str | int
"""A member's name or an element's number."""


class Place(NamedTuple):
    """Where a value is: a variable, and the members and elements on the way from it."""

    decl: Decl
    steps: tuple[Step, ...] = ()

    def at(self, step: Step) -> Place:
        """A member or an element of what is here."""
        return Place(self.decl, (*self.steps, step))


class Address(NamedTuple):
    """A pointer to a place."""

    place: Place


class _Unknown:
    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = _Unknown()
Value = int | float | Text | Arguments | Address | _Unknown


@dataclass(slots=True)
class Memory:
    """The values by place; what is not in it is not known.

    `overwritten`: anything may have been written, also variables that were not met so far.
    """

    values: dict[Place, Value] = field(default_factory=dict)
    overwritten: bool = False

    def read(self, place: Place) -> Value:
        """What is at a place."""
        return self.values.get(place, UNKNOWN)

    def write(self, place: Place, value: Value, ctype: CType | None = None) -> None:
        """Puts a value to a place, as its type holds it."""
        if value is UNKNOWN:
            self.values.pop(place, None)
        else:
            self.values[place] = held(value, ctype)

    def forget(self, place: Place) -> None:
        """Nothing is known any more of a place, of what is inside it, and of what it is inside."""
        steps = place.steps
        for known in [one for one in self.values if one.decl is place.decl]:
            common = min(len(steps), len(known.steps))
            if known.steps[:common] == steps[:common]:
                del self.values[known]

    def forget_all(self) -> None:
        """Nothing is known any more of any place."""
        self.values.clear()
        self.overwritten = True

    def common(self, other: Memory) -> Memory:
        """The values that both have."""
        same = {
            place: value for place, value in self.values.items()
            if place in other.values and other.values[place] == value
        }  # fmt: skip
        return Memory(same, self.overwritten or other.overwritten)

    def copy(self) -> Memory:
        """The same values, to be changed by itself."""
        return Memory(dict(self.values), self.overwritten)


def held(value: Value, ctype: CType | None) -> Value:
    """A number as a type holds it: cut to an integer, or to its bits.

    >>> held(3.9, CType("int", 32)), held(300, CType("int", 8)), held(7, CType("float", 64))
    (3, 44, 7.0)
    """
    if ctype is None or not isinstance(value, (int, float)):
        return value
    if ctype.kind not in ("int", "float"):
        return value
    try:
        if ctype.kind == "float":
            return float(value)
        whole = int(value)
    except (ValueError, OverflowError):
        return UNKNOWN
    if not 0 < ctype.bits <= 64:
        return whole
    whole &= (1 << ctype.bits) - 1
    if not ctype.unsigned and ctype.bits > 1 and whole >> (ctype.bits - 1):
        whole -= 1 << ctype.bits
    return whole
