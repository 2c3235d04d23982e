"""Converts C++ locks and their guards to calls that acquire and release a lock.

{ std::lock_guard<std::mutex> g(mu);        { std::mutex::lock(&mu);
  tot += d; }                          is     tot += d;
                                              std::mutex::unlock(&mu); }
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.frontend.syntax import (
    CallExpr,
    CType,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    Name,
    Opaque,
    Stmt,
    address_of,
    is_place,
)
from regionpredict.ir import Span

_MUTEX = re.compile(r"std::(__1::)?(recursive_|shared_)?(timed_)?mutex")
_GUARD = re.compile(r"std::(__1::)?(lock_guard|unique_lock|scoped_lock)\b.*")
_METHODS = frozenset(("lock", "unlock", "try_lock"))


def with_guards(items: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Returns the statements of a block. Guards are replaced by calls that acquire the locks, and
    release them at the end.
    """
    made: list[Stmt] = []
    ends: list[Stmt] = []
    for item in items:
        guards = _guards(item)
        if not isinstance(item, DeclStmt) or not guards:
            made.append(item)
            continue
        others = tuple(decl for decl in item.decls if decl not in guards)
        made += [item._replace(decls=others)] if others else []
        for decl in guards:
            locks = _locks(decl)
            ends = [*(_statement("unlock", lock, item.span) for lock in reversed(locks)), *ends]
            if not _does_not_acquire(decl):
                made += [_statement("lock", lock, item.span) for lock in locks]
    return (*made, *ends)


def lock_method(name: str, base: Expression, ctype: CType, span: Span) -> Expression | None:
    """`mu.lock()`, `guard.unlock()` and similar methods. Returns None for any other method."""
    if name not in _METHODS:
        return None
    if _MUTEX.fullmatch(ctype.class_name):
        lock = base if ctype.kind == "pointer" and not ctype.name else address_of(base, span)
        return _call(name, lock, span)
    if isinstance(base, Name) and _GUARD.fullmatch(ctype.class_name):
        locks = _locks(base.decl)
        return _call(name, address_of(locks[0], span), span) if locks else None
    return None


def _guards(item: Stmt) -> list[Decl]:
    decls = item.decls if isinstance(item, DeclStmt) else ()
    return [decl for decl in decls if _GUARD.fullmatch(decl.ctype.class_name) and _locks(decl)]


def _locks(guard: Decl) -> list[Expression]:
    """Returns the locks of a guard. The argument for its locking mode is left out."""
    return [part for part in _parts(guard) if is_place(part) and not _is_tag(part)]


def _does_not_acquire(guard: Decl) -> bool:
    """Returns whether a guard is constructed without locking, or for a lock that is already
    held.
    """
    return any(_is_tag(part) and part.decl.name != "try_to_lock"  # type: ignore[union-attr]
               for part in _parts(guard))  # fmt: skip


def _parts(guard: Decl) -> Sequence[Expression]:
    made = guard.init
    return made.children if isinstance(made, Opaque) else () if made is None else (made,)


def _is_tag(part: Expression) -> bool:
    tags = ("defer_lock", "adopt_lock", "try_to_lock")
    return isinstance(part, Name) and part.decl.name in tags


def _statement(name: str, lock: Expression, span: Span) -> Stmt:
    return ExprStmt(_call(name, address_of(lock, span), span), span)


def _call(name: str, lock: Expression, span: Span) -> Expression:
    return CallExpr(f"std::mutex::{name}", None, (lock,), span)
