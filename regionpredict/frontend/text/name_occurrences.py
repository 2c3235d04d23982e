"""Where a name stands in source text, for questions that need no tree: who calls, who writes it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
File = TypeVar("File", bound=Hashable)

_CALL = re.compile(rb"\s*\(")
_SET = re.compile(rb"\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)")
_WORD = re.compile(rb"\w")


def named_at(data: bytes, name: str) -> Iterator[tuple[int, int]]:
    """(begin, end) of every place where a text has the whole word."""
    word = name.encode()
    at = data.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not _WORD.match(data, end) and not (at and _WORD.match(data, at - 1)):
            yield at, end
        at = data.find(word, end)


def called_at(data: bytes, name: str) -> list[int]:
    """Where a text calls, declares or defines a function: `name (`.

    >>> called_at(b"f(x); of(x); f (f); df", "f")
    [0, 13]
    """
    return [at for at, end in named_at(data, name) if _CALL.match(data, end)]


def written_at(data: bytes, name: str) -> list[int]:
    """Where a text may set a variable: `n = 1`, `n += 1`, `n++`, `--n`, `&n`.

    >>> written_at(b"n = m; if (n == 1) n++; f(& n); mn = n << 1; n <<= 1", "n")
    [0, 19, 28, 45]
    """
    offsets = []
    for at, end in named_at(data, name):
        last = at
        while last and data[last - 1] in b" \t\r\n\v\f":
            last -= 1
        if _SET.match(data, end) or data.endswith((b"&", b"++", b"--"), 0, last):
            offsets.append(at)
    return offsets


def holding(
    functions: Iterable[tuple[T, File, int, int]], places: Mapping[File, Sequence[int]]
) -> list[T]:
    """Those of the functions, (function, file, begin, end), that hold one of a file's places."""
    holders = []
    for function, file, begin, end in functions:
        inside = places.get(file, ())
        at = bisect_left(inside, begin)
        if at < len(inside) and inside[at] < end:
            holders.append(function)
    return holders
