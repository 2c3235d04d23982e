"""Finds names in source text, and code that may assign them, without a syntax tree."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeVar

from regionpredict.ir.reached import reached

T = TypeVar("T")
File = TypeVar("File", bound=Hashable)

_SET = re.compile(rb"\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)")
_DERIVED = re.compile(rb"\b(?:class|struct)\s+\w[\w:<>, ]*?\s*(?<!:):(?!:)([^{};()]*)\{")
_WORD = re.compile(rb"\w")
IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


def named_at(data: bytes, name: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of every occurrence of the whole word in a text."""
    word = name.encode()
    at = data.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not _WORD.match(data, end) and not (at and _WORD.match(data, at - 1)):
            yield at, end
        at = data.find(word, end)


def places_of_name(data: bytes, name: str) -> list[int]:
    """Returns the offsets of a name in a text.

    >>> places_of_name(b"f<T>(x); of(x); g(f)", "f")
    [0, 18]
    """
    return [at for at, _ in named_at(data, name)]


def base_classes_in(data: bytes) -> frozenset[str]:
    """Returns the names of base classes in a text, possibly with other words of the declaration.

    >>> sorted(base_classes_in(b"class A : public n::B<int>, C { }; struct D { int i : 3; };"))
    ['B', 'C', 'int', 'n', 'public']
    """
    names: set[str] = set()
    for match in _DERIVED.finditer(data):
        names.update(word.decode() for word in IDENTIFIER.findall(match[1]))
    return frozenset(names)


def written_at(data: bytes, name: str) -> list[int]:
    """Returns the offsets at which a text may assign a variable: `n = 1`, `n += 1`, `n++`, `--n`,
    `&n`.

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


def functions_holding(
    functions: Iterable[tuple[T, File, int, int]], occurrences: Mapping[File, Sequence[int]]
) -> list[T]:
    """Returns the functions, given as (function, file, start, end), that contain an occurrence."""
    holders = []
    for function, file, begin, end in functions:
        inside = occurrences.get(file, ())
        at = bisect_left(inside, begin)
        if at < len(inside) and inside[at] < end:
            holders.append(function)
    return holders


def unreached(
    functions: Sequence[tuple[str, File, int, int]],
    candidates: Set[str],
    texts: Mapping[File, bytes],
) -> set[str]:
    """Returns the candidates that only other candidates refer to, and that refer to no other
    function.

    `functions` are all definitions in the texts, as (name, file, start, end). `candidates` are
    functions that only these texts can call. A name in a comment counts as a reference. If names
    are pasted (`##`), references are uncertain, so that the result is empty.

    >>> text = b"int f(){} int g(){f();} int h(){} int main(){h();}"
    >>> functions = [("f", 0, 0, 9), ("g", 0, 10, 23), ("h", 0, 24, 33), ("main", 0, 34, 50)]
    >>> sorted(unreached(functions, {"f", "g", "h"}, {0: text}))
    ['f', 'g']
    """
    if any(b"##" in data for data in texts.values()):
        return set()
    own = [entry for entry in functions if entry[0] in candidates]
    others = {name.encode() for name, *_ in functions if name not in candidates}
    naming: dict[str, set[str]] = {name: set() for name in candidates}
    waiting = [
        name
        for name, file, begin, end in own
        if not others.isdisjoint(IDENTIFIER.findall(texts.get(file, b""), begin, end))
    ]
    for name in candidates:
        for file, data in texts.items():
            for at, _ in named_at(data, name):
                holder = next(
                    (n for n, inside, begin, end in own if inside == file and begin <= at < end),
                    None,
                )
                if holder is None:
                    waiting.append(name)
                else:
                    naming[holder].add(name)
    return set(candidates) - reached(waiting, naming.__getitem__).keys()
