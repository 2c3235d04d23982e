"""Handles values of C++ classes, and the constructor calls that create them."""

from __future__ import annotations

from regionpredict.frontend.syntax.nodes import CallExpr, Cast, Expression, Function, Opaque


def constructor_call(address: Expression, value: Expression) -> CallExpr | None:
    """Returns the constructor call that creates a value at an address. None for any other value.

    In the tree of `grid(n)`, an empty expression represents the address.
    """
    call = value.constructor if isinstance(value, Cast) else value
    if not isinstance(call, CallExpr) or not call.method or not call.args:
        return None
    first = call.args[0]
    if not isinstance(first, Opaque) or first.text or first.children:
        return None
    return call._replace(args=(address, *call.args[1:]))


def constructed_class(function: Function) -> str:
    """Returns the class of a constructor. "" for any other function."""
    this = function.parameters[0] if function.parameters else None
    name = this.ctype.class_name if this is not None and this.name == "this" else ""
    last = name.split("<", maxsplit=1)[0].rsplit("::", maxsplit=1)[-1]
    return name if function.name.rsplit("::", maxsplit=1)[-1] == last else ""
