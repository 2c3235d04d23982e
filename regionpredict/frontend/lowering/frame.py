"""Values of one function's variables during lowering: expressions and addresses."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.syntax import CType, Decl
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO


class Pointer(NamedTuple):
    """The address `&array[subscripts]`; adding to it moves the last subscript.

    `pointee` is the type of the target. `member` is the field of a struct element that contains it,
    and `offset` its distance in bytes from the start of the element.
    """

    array: str
    subscripts: tuple[Expr, ...]
    pointee: CType
    member: str = ""
    offset: int = 0

    def plus(self, distance: Expr) -> Pointer:
        """The pointer, moved by a number of elements."""
        subscripts = (*self.subscripts[:-1], self.subscripts[-1] + distance)
        return self._replace(subscripts=subscripts)

    def of_member(self, field: Decl) -> Pointer:
        """The place of a field of the struct at this address."""
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
    """One function being lowered: the values of its variables, by declaration.

    `depth` distinguishes equal names: those of a lambda from those of its enclosing function.
    """

    env: dict[Decl, Value]
    depth: int = 0
    calls: int = 0


def divisible(amount: Expr, size: int) -> bool:
    """Whether a number of bytes is known to be a multiple of the element size."""
    return all(isinstance(value, int) and value % size == 0 for value in amount.terms.values())
