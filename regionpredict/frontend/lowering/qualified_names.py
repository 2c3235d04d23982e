"""Names variables of other functions so that a user can set them: `main:n` if the region has its
own `n`.

    void rows(int n) { ... for (i = 0; i < n; i++) ... }        n is main:n*main:n
    int main(void) { ... rows(n * n); }

A variable keeps its prime if its function is unknown. It also keeps its prime if it occurs twice in
a region, as in a recursive function.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from regionpredict.frontend.lowering.invariant_values import names_in, with_values
from regionpredict.ir import Definition, Expr, Region

_PRIMED = re.compile(r"\w+'+")


def with_home_names(
    region: Region, definitions: tuple[Definition, ...]
) -> tuple[Region, tuple[Definition, ...]]:
    """Qualifies each primed name in the region and its definitions by its function."""
    counted = {loop.variable for loop in (*region.enclosing, *region.loops())}
    twice = Counter((other.function, other.plain) for other in region.others)
    homes = {
        other.name: f"{other.function}:{other.plain}"
        for other in region.others
        if other.name.endswith("'") and other.function and other.name not in counted
        and twice[other.function, other.plain] == 1 and other.function != region.function
    }  # fmt: skip
    if not homes:
        return region, definitions
    said = names_in(region).union(
        *(definition.value.names | {definition.name} for definition in definitions)
    )
    for definition in definitions:
        for end in definition.range or ():
            said |= end.names
    new = {name: at_home for name in said if (at_home := _at_home(name, homes)) != name}
    if not new:
        return region, definitions
    values = {name: Expr.name(at_home) for name, at_home in new.items()}
    others = tuple(other._replace(name=homes.get(other.name, other.name))
                   for other in region.others)  # fmt: skip
    region = replace(with_values(region, values), others=others)
    renamed = tuple(
        definition.changed(lambda expression: expression.substitute(values))._replace(
            name=new.get(definition.name, definition.name)
        )
        for definition in definitions
    )
    return region, renamed


def _at_home(name: str, homes: Mapping[str, str]) -> str:
    word = _PRIMED.match(name)
    return name if word is None else homes.get(word[0], word[0]) + name[word.end() :]
