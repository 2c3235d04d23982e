"""Sizes that follow from those given: where the source says that two names are one size.

`Index_t numElem = domain.m_numElem;` in one function and `numElem=1000` given: all other functions
in which `domain.m_numElem` decides have 1000, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from regionpredict.analysis.given_sizes import name_at_home, sizes_in
from regionpredict.errors import UsageError
from regionpredict.ir import Expr, Program

_WORD = re.compile(r"\w+")
_MAX_ROUNDS = 20  # names that are other names in turn


def with_implied(program: Program, given: Mapping[str, int]) -> dict[str, int]:
    """The sizes given, and those that follow.

    A member, or what a method gives, has one name in the whole program; a plain variable is that
    of its function. Raises UsageError where two names of one size are given two values.
    """
    known = dict(given)
    for _ in range(_MAX_ROUNDS if given else 0):
        new: dict[str, int] = {}
        for region in program.regions:
            sizes = sizes_in(region, known)
            for definition in program.definitions[region.id]:
                name, value = definition.name, definition.value
                names = value.names
                if name not in sizes or len(names) != 1 or value != Expr.name(*names):
                    continue
                (word,) = names
                size = sizes[name]
                if sizes.get(word, size) != size:
                    raise UsageError(
                        f"{name} and {word} are one size in {region.function}(), and are given"
                        f" {size} and {sizes[word]}",
                        remedy="give it under one of its names",
                    )
                if word not in sizes:
                    own = f"{region.function}:{word}" if _WORD.fullmatch(word) else word
                    new[name_at_home(region, word) or own] = size
        if not new:
            break
        known |= new
    return known
