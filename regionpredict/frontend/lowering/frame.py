"""What the variables of one function hold while it is lowered: expressions and addresses."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.syntax import CType, Decl
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO


class Pointer(NamedTuple):
    """The address `&array[subscripts]`; adding to it moves the last subscript.

    `pointee` is the type it points to, `member` the field of a struct element it lies in,
    `offset` the bytes from that element's begin to the field.
    """

    array: str
    subscripts: tuple[Expr, ...]
    pointee: CType
    member: str = ""
    offset: int = 0

    def plus(self, distance: Expr) -> Pointer:
        """The pointer moved by so many elements."""
        subscripts = (*self.subscripts[:-1], self.subscripts[-1] + distance)
        return self._replace(subscripts=subscripts)

    def of_member(self, field: Decl) -> Pointer:
        """The place of a field of the struct that lies here."""
        member = f"{self.member}.{field.name}" if self.member else field.name
        offset = self.offset + field.offset
        return self._replace(pointee=field.ctype, member=member, offset=offset)


def decayed(place: Pointer | None) -> Pointer | None:
    """An element that is itself an array or a pointer, as the address of its first element."""
    if place is None or place.pointee.element is None:
        return None
    return place._replace(subscripts=(*place.subscripts, ZERO), pointee=place.pointee.element)


Value = Expr | Pointer


class Frame(NamedTuple):
    """One function being lowered: what its variables hold, by declaration.

    `depth` tells variables of one name apart: those of a lambda are the function's around it.
    """

    env: dict[Decl, Value]
    depth: int = 0
    calls: int = 0


def divisible(amount: Expr, size: int) -> bool:
    """Whether a number of bytes is known to be one of whole elements of that size."""
    return all(isinstance(value, int) and value % size == 0 for value in amount.terms.values())
