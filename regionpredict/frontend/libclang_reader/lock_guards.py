"""Converts C++ lock guards to calls that acquire and release a mutex.

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
_SEMAPHORE = re.compile(r"std::(__1::)?counting_semaphore\b.*")
_GUARD = re.compile(r"std::(__1::)?(lock_guard|unique_lock|scoped_lock|shared_lock)\b.*")
_METHODS = frozenset((
    "lock", "unlock", "try_lock", "lock_shared", "unlock_shared",
))  # fmt: skip
_OF_SEMAPHORES = {"acquire": "lock", "try_acquire": "try_lock", "release": "unlock"}


def with_guards(items: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Returns the statements of a block with guards replaced by lock calls, and with unlock calls
    at its end.
    """
    result: list[Stmt] = []
    ends: list[Stmt] = []
    for item in items:
        guards = _lock_guards_in(item)
        if not isinstance(item, DeclStmt) or not guards:
            result.append(item)
            continue
        others = tuple(decl for decl in item.decls if decl not in guards)
        result += [item._replace(decls=others)] if others else []
        for decl in guards:
            locks = _mutexes_of_guard(decl)
            suffix = _method_suffix(decl)
            released = [_mutex_statement("unlock" + suffix, lock, item.span) for lock in locks]
            ends = [*reversed(released), *ends]
            if not _does_not_acquire(decl):
                result += [_mutex_statement("lock" + suffix, lock, item.span) for lock in locks]
    return (*result, *ends)


def lock_method(name: str, base: Expression, ctype: CType, span: Span) -> Expression | None:
    """Converts a method call such as `mu.lock()` or `guard.unlock()`. Returns None for other
    methods.
    """
    lock = base if ctype.kind == "pointer" and not ctype.name else address_of(base, span)
    if _SEMAPHORE.fullmatch(ctype.class_name) and name in _OF_SEMAPHORES:
        return _mutex_call(_OF_SEMAPHORES[name], lock, span)
    if name not in _METHODS:
        return None
    if _MUTEX.fullmatch(ctype.class_name):
        return _mutex_call(name, lock, span)
    if isinstance(base, Name) and _GUARD.fullmatch(ctype.class_name):
        locks = _mutexes_of_guard(base.decl)
        method = name + _method_suffix(base.decl)
        return _mutex_call(method, address_of(locks[0], span), span) if locks else None
    return None


def _lock_guards_in(item: Stmt) -> list[Decl]:
    decls = item.decls if isinstance(item, DeclStmt) else ()
    return [
        decl
        for decl in decls
        if _GUARD.fullmatch(decl.ctype.class_name) and _mutexes_of_guard(decl)
    ]


def _mutexes_of_guard(guard: Decl) -> list[Expression]:
    """Returns the mutexes that are arguments of a guard's constructor."""
    return [part for part in _constructor_arguments(guard) if is_place(part) and not _is_tag(part)]


def _method_suffix(guard: Decl) -> str:
    """Returns the end of the names of a guard's methods. A `std::shared_lock` admits readers."""
    return "_shared" if "shared_lock" in guard.ctype.class_name.partition("<")[0] else ""


def _does_not_acquire(guard: Decl) -> bool:
    """Returns whether a guard is constructed with `std::defer_lock` or `std::adopt_lock`, so that
    it does not acquire the mutex.
    """
    return any(_is_tag(part) and part.decl.name != "try_to_lock"  # type: ignore[union-attr]
               for part in _constructor_arguments(guard))  # fmt: skip


def _constructor_arguments(guard: Decl) -> Sequence[Expression]:
    result = guard.init
    return result.children if isinstance(result, Opaque) else () if result is None else (result,)


def _is_tag(part: Expression) -> bool:
    tags = ("defer_lock", "adopt_lock", "try_to_lock")
    return isinstance(part, Name) and part.decl.name in tags


def _mutex_statement(name: str, lock: Expression, span: Span) -> Stmt:
    return ExprStmt(_mutex_call(name, address_of(lock, span), span), span)


def _mutex_call(name: str, lock: Expression, span: Span) -> Expression:
    return CallExpr(f"std::mutex::{name}", None, (lock,), span)
