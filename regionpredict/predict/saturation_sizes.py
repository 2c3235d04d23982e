"""Values for the sizes that nobody gave: one number for all, so that the data is ten caches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.groups import nest_of
from regionpredict.analysis.groups_footprint import TeamFootprints
from regionpredict.analysis.values import free_names
from regionpredict.ir import Expr
from regionpredict.machine import Machine

TIMES_LARGEST_CACHE = 10  # the setting of Chatzopoulos 2012, sec. 6.2
ELEMENT = 8
_TRIAL = 1000
_TILE = 32  # a common size of tiles
_LARGEST = 1 << 34

Values = Mapping[str, int | Fraction]


def values_for(facts: RegionFacts, machine: Machine) -> tuple[Values, tuple[str, ...]]:
    """Every name's value: as bound, the unbound ones a common n; and a line for each guess.

    n is found by bisection so that the region touches ten times the largest cache; where its data
    does not grow with n, so that it has as many iterations as such data has elements. Names that
    only ever shorten a loop (`first` in `i <= last - first`) are lower bounds and stand at 0.
    """
    known = facts.bindings.values
    missing = sorted(free_names(facts.region) - known.keys())
    if not missing:
        return known, ()
    steps = _steps(facts, missing)
    known = {**known, **steps}
    notes = [f"{name} = {value} (no value given: a step)" for name, value in steps.items()]
    missing = [name for name in missing if name not in steps]
    lower = _lower_bounds(facts, missing)
    missing = [name for name in missing if name not in lower]
    known = {**known, **dict.fromkeys(lower, 0)}
    notes += [f"{', '.join(lower)} = 0 (no value given: a lower bound)"] if lower else []
    if not missing:
        return known, tuple(notes)
    target = TIMES_LARGEST_CACHE * machine.largest_cache_bytes
    size = facts.working_set.expr

    def trial(n: int) -> Values:
        return {**known, **dict.fromkeys(missing, n)}

    def touched(n: int) -> float | None:
        values = trial(n)
        return _number(size.evaluate(values)) if size is not None else _touched(facts, values)

    def executed(n: int) -> float | None:
        return _executions(facts, trial(n))

    why = "data of ten times the largest cache"
    n = _smallest(touched, target)
    if n is None:
        n = _smallest(executed, target / ELEMENT) or 2000
        why = "its data is the same for all"
    names = ", ".join(missing)
    return trial(n), (*notes, f"{names} = {n} (no value given: {why})")


def _smallest(measure: Callable[[int], float | None], target: float) -> int | None:
    """The smallest n whose measure reaches the target; None where none does or none is known."""
    low, high = 1, _LARGEST
    last = measure(high)
    if last is None or last < target:
        return None
    while low < high:
        middle = (low + high) // 2
        found = measure(middle)
        if found is None:
            return None
        if found >= target:
            high = middle
        else:
            low = middle + 1
    return low


def _lower_bounds(facts: RegionFacts, missing: list[str]) -> list[str]:
    """The names that make some loop shorter and none longer when they grow alone."""
    base = {**facts.bindings.values, **dict.fromkeys(missing, _TRIAL)}
    found = []
    for name in missing:
        longer = shorter = False
        for trips in _trips(facts):
            if name not in trips.names:
                continue
            here, beyond = trips.evaluate(base), trips.evaluate({**base, name: _TRIAL + 1})
            if here is None or beyond is None:
                longer = True  # not known: no lower bound
                continue
            longer |= beyond > here
            shorter |= beyond < here
        if shorter and not longer:
            found.append(name)
    return found


def _steps(facts: RegionFacts, missing: list[str]) -> dict[str, int]:
    """The names that loops step by: the size of tiles where a bound has them too, else one."""
    loops = {id(loop): loop for fact in facts.statements for loop in fact.loops}.values()
    stepped: set[str] = set()
    bounds: set[str] = set()
    for loop in loops:
        stepped |= loop.step.names if loop.step is not None else frozenset()
        for bound in (loop.start, loop.bound):
            bounds |= bound.names if bound is not None else frozenset()
    return {name: _TILE if name in bounds else 1 for name in missing if name in stepped}


def _trips(facts: RegionFacts) -> Iterable[Expr]:
    loops = {id(loop): loop for fact in facts.statements for loop in fact.loops}
    return [trips for loop in loops.values() if (trips := loop.trips) is not None]


def _executions(facts: RegionFacts, values: Values) -> float | None:
    """Iterations of the innermost loops, all together."""
    found = [
        _number(fact.executions.expr.evaluate(values)) if fact.executions.expr is not None else None
        for fact in facts.statements
    ]
    known = [number for number in found if number is not None]
    return max(known) if known else None


def _number(value: int | Fraction | None) -> float | None:
    return None if value is None else float(value)


def _touched(facts: RegionFacts, values: Values) -> float | None:
    nest = nest_of(facts.region, values)
    if nest is None:
        return None
    team = TeamFootprints(nest, 1.0)
    return team.bytes((nest.root,), {}, team.groups_below(nest.root))
