"""Values of one function's variables during lowering: expressions and addresses."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.syntax import CType, Decl
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO


class Pointer(NamedTuple):
    """The address `&array[subscripts]`. Adding to it increases the last subscript.

    `pointee` is the type at this address. For an address inside a struct element, `member` is the
    field that contains it. `offset` is its distance in bytes from the start of the element.
    """

    array: str
    subscripts: tuple[Expr, ...]
    pointee: CType
    member: str = ""
    offset: int = 0

    def plus(self, distance: Expr) -> Pointer:
        """Returns the pointer after a move by a number of elements."""
        subscripts = (*self.subscripts[:-1], self.subscripts[-1] + distance)
        return self._replace(subscripts=subscripts)

    def of_member(self, field: Decl) -> Pointer:
        """Returns the place of a field of the struct at this address."""
        member = f"{self.member}.{field.name}" if self.member else field.name
        offset = self.offset + field.offset
        return self._replace(pointee=field.ctype, member=member, offset=offset)


def decayed(place: Pointer | None) -> Pointer | None:
    """Returns the address of the first element, if the pointer points to an array or to a
    pointer.
    """
    if place is None or place.pointee.element is None:
        return None
    return place._replace(subscripts=(*place.subscripts, ZERO), pointee=place.pointee.element)


Value = Expr | Pointer


class Frame(NamedTuple):
    """The values of the variables of one function during lowering. The key is the variable's
    declaration.

    `depth` distinguishes equal names, such as those of a lambda and of its enclosing function.
    """

    env: dict[Decl, Value]
    depth: int = 0
    calls: int = 0


def divisible(amount: Expr, size: int) -> bool:
    """Returns whether a number of bytes is known to be a multiple of the element size."""
    return all(isinstance(value, int) and value % size == 0 for value in amount.terms.values())
