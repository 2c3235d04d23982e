"""Finds sizes that follow from given sizes because the source assigns one name to another.

For example, if `numElem=1000` is given and the source has `Index_t numElem = domain.m_numElem;`,
then `domain.m_numElem` is 1000 in all functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from regionpredict.analysis.given_sizes import qualified_name, sizes_in
from regionpredict.errors import UsageError
from regionpredict.ir import Expr, Program

_WORD = re.compile(r"\w+")
_MAX_ROUNDS = 20  # maximum length of a chain of names


def with_implied(program: Program, given: Mapping[str, int]) -> dict[str, int]:
    """Returns the given sizes, and the sizes that follow from them.

    A member, or the result of a method, has one name in the whole program. A plain variable belongs
    to its function. Raises UsageError if two names of the same size are given different values.
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
                        f"{name} and {word} are the same size in {region.function}(), and are given"
                        f" {size} and {sizes[word]}",
                        remedy="set only one of the names",
                    )
                if word not in sizes:
                    own = f"{region.function}:{word}" if _WORD.fullmatch(word) else word
                    new[qualified_name(region, word) or own] = size
        if not new:
            break
        known |= new
    return known
