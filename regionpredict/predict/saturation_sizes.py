"""Values for the sizes that nobody gave: one number for all, so that the data is ten caches."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.groups import nest_of
from regionpredict.analysis.groups_footprint import TeamFootprints
from regionpredict.analysis.values import free_names
from regionpredict.machine import Machine

TIMES_LARGEST_CACHE = 10  # the setting of Chatzopoulos 2012, sec. 6.2


def values_for(
    facts: RegionFacts, machine: Machine
) -> tuple[Mapping[str, int | Fraction], tuple[str, ...]]:
    """Every name's value: as bound, the unbound ones a common n; and a line for each guess.

    n is found by bisection so that the region touches ten times the largest cache.
    """
    known = facts.bindings.values
    missing = sorted(free_names(facts.region) - known.keys())
    if not missing:
        return known, ()
    target = TIMES_LARGEST_CACHE * machine.largest_cache_bytes
    low, high = 1, 1 << 34
    size = facts.working_set.expr
    while low < high:
        middle = (low + high) // 2
        trial = {**known, **dict.fromkeys(missing, middle)}
        touched = size.evaluate(trial) if size is not None else _touched(facts, trial)
        if touched is not None and touched >= target:
            high = middle
        elif touched is None:
            high = low = 2000
        else:
            low = middle + 1
    names = ", ".join(missing)
    values = {**known, **dict.fromkeys(missing, low)}
    return values, (f"{names} = {low} (no value given: data of ten times the largest cache)",)


def _touched(facts: RegionFacts, values: Mapping[str, int | Fraction]) -> float | None:
    nest = nest_of(facts.region, values)
    if nest is None:
        return None
    team = TeamFootprints(nest, 1.0)
    return team.bytes((nest.root,), {}, team.groups_below(nest.root))
