"""Defines the values of variables during lowering: integer expressions and addresses."""

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
        """Returns the pointer plus a number of elements."""
        subscripts = (*self.subscripts[:-1], self.subscripts[-1] + distance)
        return self._replace(subscripts=subscripts)

    def of_member(self, field: Decl) -> Pointer:
        """Returns the address of a member of the struct at this address."""
        member = f"{self.member}.{field.name}" if self.member else field.name
        offset = self.offset + field.offset
        return self._replace(pointee=field.ctype, member=member, offset=offset)


def address_of_first_element(place: Pointer | None) -> Pointer | None:
    """Returns the address of the first element of the array at `place`, or the pointer stored at
    `place`. Returns None for other types.
    """
    if place is None or place.pointee.element is None:
        return None
    return place._replace(subscripts=(*place.subscripts, ZERO), pointee=place.pointee.element)


Value = Expr | Pointer


class Frame(NamedTuple):
    """The variable values of one function during lowering, by declaration.

    `depth` is the call depth for names of variables, which a lambda shares with its enclosing
    function. `calls` is the number of nested calls.
    """

    env: dict[Decl, Value]
    depth: int = 0
    calls: int = 0


def is_multiple(amount: Expr, size: int) -> bool:
    """Returns whether a number of bytes is certainly a multiple of the element size `size`."""
    return all(isinstance(value, int) and value % size == 0 for value in amount.terms.values())
