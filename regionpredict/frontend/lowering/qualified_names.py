"""Qualifies variables of other functions by their function, so that users can set them: `main:n` if
the region has another `n`.

    void rows(int n) { ... for (i = 0; i < n; i++) ... }        n is main:n*main:n
    int main(void) { ... rows(n * n); }

A name keeps its prime (`n'`) if its function is unknown, or if the region contains the same
variable twice, as in a recursive function.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from regionpredict.frontend.lowering.invariant_values import names_in, with_values
from regionpredict.ir import Definition, Expr, Region

_PRIMED = re.compile(r"\w+'+")


def with_qualified_names(
    region: Region, definitions: tuple[Definition, ...]
) -> tuple[Region, tuple[Definition, ...]]:
    """Replaces each name with a prime, such as `n'`, by a qualified name such as `main:n`."""
    counted = {loop.variable for loop in (*region.enclosing, *region.loops())}
    twice = Counter((other.function, other.plain) for other in region.others)
    qualified_names = {
        other.name: f"{other.function}:{other.plain}"
        for other in region.others
        if other.name.endswith("'") and other.function and other.name not in counted
        and twice[other.function, other.plain] == 1 and other.function != region.function
    }  # fmt: skip
    if not qualified_names:
        return region, definitions
    used_names = names_in(region).union(
        *(definition.value.names | {definition.name} for definition in definitions)
    )
    for definition in definitions:
        for end in definition.range or ():
            used_names |= end.names
    new_names = {
        name: qualified
        for name in used_names
        if (qualified := _qualified_name(name, qualified_names)) != name
    }
    if not new_names:
        return region, definitions
    values = {name: Expr.name(qualified) for name, qualified in new_names.items()}
    others = tuple(other._replace(name=qualified_names.get(other.name, other.name))
                   for other in region.others)  # fmt: skip
    region = replace(with_values(region, values), others=others)
    renamed = tuple(
        definition.changed(lambda expression: expression.substitute(values))._replace(
            name=new_names.get(definition.name, definition.name)
        )
        for definition in definitions
    )
    return region, renamed


def _qualified_name(name: str, qualified_names: Mapping[str, str]) -> str:
    word = _PRIMED.match(name)
    return name if word is None else qualified_names.get(word[0], word[0]) + name[word.end() :]
