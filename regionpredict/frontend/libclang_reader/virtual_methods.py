"""Models virtual methods of C++ as function pointers in struct members.

    struct Shape { virtual double area() = 0; };
    struct Disc : Shape { double area() override; };

Each method is assigned to a member for its own symbol, and to one for each method that it
overrides. A call of `Shape::area` therefore finds `Disc::area`.
"""

from __future__ import annotations

from ctypes import POINTER, byref, c_uint

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.syntax import Cast, CType, Decl, Expression, Member, virtual_table
from regionpredict.ir import Span


def overridden_symbols(method: lc.Cursor) -> tuple[str, ...]:
    """Returns the linker symbols of a virtual method and of all methods that it overrides. The
    result is empty for other methods.
    """
    lib = lc.load_libclang()
    if not lib.clang_CXXMethod_isVirtual(method):
        return ()
    symbols: list[str] = []
    waiting = [method]
    while waiting:
        cursor = waiting.pop()
        symbols.append(_symbol_of_method(cursor))
        first, count = POINTER(lc.Cursor)(), c_uint()
        lib.clang_getOverriddenCursors(cursor, byref(first), byref(count))
        waiting += [lc.Cursor.from_buffer_copy(first[at]) for at in range(count.value)]
        if count.value:
            lib.clang_disposeOverriddenCursors(first)
    return tuple(dict.fromkeys(symbols))


def virtual_method_member(method: lc.Cursor, name: str, address: Expression, span: Span) -> Member:
    """Returns the struct member that contains the function pointer for a call of a virtual
    method.
    """
    table = CType("struct", name=virtual_table(_symbol_of_method(method)))
    field = Decl(name, "field", CType("pointer"), span)
    return Member(Cast(table, address), field, arrow=True, span=span)


def _symbol_of_method(method: lc.Cursor) -> str:
    return lc.string_text(lc.load_libclang().clang_Cursor_getMangling(method))
