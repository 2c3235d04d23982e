"""The density model, to the letter: Chatzopoulos 2012, chapter 4.

Each statement of the loop body gets a good score (arithmetic, and accesses served by the cache,
weighted by latency) and a bad one (accesses served by memory, weighted by read or write and by
streaming or latency). Their averages over the statements give the region's score by equation
4.1; a miss happens with the probability of equation 4.2. The score's area among equal parts of
[0, 1] is the number of packages. What the thesis leaves open is decided in docs/density.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from regionpredict.machine import Machine
from regionpredict.predict.density.constants import (
    ALL_OF_DOMAINS,
    ALL_OF_ONE_PATH,
    ASSUMED_WORKING_SET,
    ASSUMPTION_CONFIDENCE,
    BORDERLINE,
    FEWER_OF_DOMAINS,
    FEWER_OF_ONE_PATH,
    PARTIAL_CONFIDENCE,
)
from regionpredict.predict.estimate import DensityDerivation, Estimate, StatementScore, Term
from regionpredict.workload import ReferenceRow, StatementRow, StatementTable


def predict_density(
    table: StatementTable, machine: Machine, combination: str = "relative-difference"
) -> Estimate:
    """The estimate of one region; `combination` is equation 4.1 or the plain ratio.

    The ratio good/bad is mapped to [0, 1) as r/(1+r), so that the same areas serve both.
    """
    if table.status == "skipped":
        return _skipped(table)
    size, assumed = _working_set(table, machine)
    probability = miss_probability(size, machine.largest_cache_bytes)
    scores = tuple(_statement_score(s, machine, probability) for s in table.statements)
    good, bad = _average(s.good for s in scores), _average(s.bad for s in scores)
    score = combine(good, bad, combination)
    bounds = boundaries(machine)
    packages = packages_for(score, machine.packages, bounds)
    notes = list(table.diagnostics)
    threads = packages * machine.cores_per_package
    iterations = table.iterations
    if iterations is not None and 0 < iterations < threads:
        message = f"only {iterations} iterations for {threads} threads"
        notes.append(table.diagnostic("RP109", message))
        threads = iterations
    partial = table.status == "partial" or not (good or bad)
    near = boundary_distance(score, machine.packages, bounds)
    return Estimate(
        model="density",
        status="partial" if partial else "predicted",
        score=score,
        miss_probability=probability,
        working_set_bytes=size,
        speedup=(),
        packages=packages,
        threads=threads,
        bottleneck=_bottleneck(scores, packages, machine),
        confidence=_confidence(packages, machine, assumed, partial=partial),
        borderline=near < BORDERLINE.value,
        assumed=assumed,
        diagnostics=tuple(notes),
        derivation=DensityDerivation(
            scores,
            good,
            bad,
            combination,
            machine.largest_cache_bytes,
            bounds,
        ),
    )


def combine(good: float, bad: float, combination: str = "relative-difference") -> float:
    """Equation 4.1, or the plain ratio; both from 0 (bad) to 1.

    >>> combine(3.0, 1.0), combine(1.0, 3.0), combine(3.0, 1.0, "ratio")
    (0.5, 0.0, 0.75)
    """
    if good + bad == 0:
        return 0.0
    if combination == "ratio":
        return good / (good + bad)
    return max(0.0, (good - bad) / (good + bad))


def miss_probability(working_set: int, cache: int) -> float:
    """Equation 4.2: P = max(0, 1 - cache / working set).

    >>> miss_probability(160, 16), miss_probability(8, 16)
    (0.9, 0.0)
    """
    return max(0.0, 1.0 - cache / working_set) if working_set > 0 else 0.0


def thresholds(packages: int) -> tuple[float, ...]:
    """The boundaries of the decision areas: equal parts.

    >>> thresholds(2), thresholds(4)
    ((0.5,), (0.25, 0.5, 0.75))
    """
    return tuple(part / packages for part in range(1, packages))


def boundaries(machine: Machine) -> tuple[float, ...]:
    """The machine file's own boundaries, or those of equal areas."""
    own = tuple(bound.value for bound in machine.density.thresholds)
    return own or thresholds(machine.packages)


def packages_for(score: float, packages: int, bounds: Sequence[float] = ()) -> int:
    """The area in which a score lies; a score on a boundary belongs to the area above.

    `bounds` are the boundaries, equal parts where empty.

    >>> [packages_for(score, 4) for score in (0.0, 0.24, 0.25, 0.6, 1.0)]
    [1, 1, 2, 3, 4]
    """
    bounds = bounds or thresholds(packages)
    return min(packages, 1 + sum(score >= boundary for boundary in bounds))


def boundary_distance(score: float, packages: int, bounds: Sequence[float] = ()) -> float:
    """How far the score is from the nearest boundary; 1 where there is only one package."""
    bounds = bounds or thresholds(packages)
    return min((abs(score - boundary) for boundary in bounds), default=1.0)


def operation_weight(kind: str, machine: Machine) -> float:
    """Cycles that an operation weighs; a called function by its own name, or as any call."""
    weights = machine.density.operation
    if kind.startswith("call:"):
        name = kind.removeprefix("call:")
        known = weights.get(name) or weights.get(name.rstrip("fl")) or weights["call"]
        return known.value
    return weights[kind].value


def _working_set(table: StatementTable, machine: Machine) -> tuple[int, tuple[str, ...]]:
    if table.working_set_bytes is not None:
        return table.working_set_bytes, table.assumed
    times = int(ASSUMED_WORKING_SET.value)
    why = "sizes not known from the source"
    if table.unbound:
        why = f"no value for {', '.join(table.unbound)}"
    assumed = f"working set = {times} x largest cache ({why})"
    return times * machine.largest_cache_bytes, (*table.assumed, assumed)


def _statement_score(row: StatementRow, machine: Machine, probability: float) -> StatementScore:
    terms = [
        Term("operation", kind, number, operation_weight(kind, machine))
        for kind, number in row.operations
    ]
    for reference in row.references:
        terms += _reference_terms(reference, machine, probability)
    return StatementScore(row.line, row.text, tuple(terms))


def _reference_terms(row: ReferenceRow, machine: Machine, probability: float) -> list[Term]:
    if not row.counted:
        return []
    hit = machine.density.hit.value
    what = f"{row.kind} {row.text}"
    if row.reuse == "hit":
        return [Term("hit", what, 1.0, hit)]
    weight = machine.density.miss[row.kind, row.pattern].value
    missed = Term(f"{row.pattern} miss", what, probability, weight)
    served = Term("miss that hits", what, 1.0 - probability, hit)
    return [term for term in (missed, served) if term.number > 0]


def _average(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _bottleneck(scores: Sequence[StatementScore], packages: int, machine: Machine) -> str | None:
    """What keeps the region from more packages; what it spends its time on where nothing does."""
    if not any(score.terms for score in scores):
        return None
    if packages < machine.packages:
        return "memory-bandwidth"
    terms = [term for score in scores for term in score.terms]
    work = sum(term.value for term in terms if term.kind == "operation")
    cached = sum(term.value for term in terms if term.good) - work
    return "cache" if cached > work else "compute"


def success_rate(packages: int, machine: Machine) -> float:
    """The share of hints of so many packages that were right on measured programs.

    Where there is one package only, there is nothing to choose.
    """
    if machine.packages == 1:
        return 1.0
    if machine.memory.shared_path is None:
        fewer, all_of_them = FEWER_OF_DOMAINS, ALL_OF_DOMAINS
    else:
        fewer, all_of_them = FEWER_OF_ONE_PATH, ALL_OF_ONE_PATH
    return all_of_them.value if packages == machine.packages else fewer.value


def _confidence(
    packages: int, machine: Machine, assumed: tuple[str, ...], *, partial: bool
) -> float:
    """What hints of this kind have earned, less for what is assumed."""
    sure = success_rate(packages, machine) * ASSUMPTION_CONFIDENCE.value ** len(assumed)
    return round(sure * (PARTIAL_CONFIDENCE.value if partial else 1.0), 3)


def _skipped(table: StatementTable) -> Estimate:
    return Estimate(
        model="density", status="skipped", score=None, miss_probability=None,
        working_set_bytes=None, speedup=(), packages=None, threads=None, bottleneck=None,
        confidence=0.0, borderline=False, assumed=(), diagnostics=table.diagnostics,
    )  # fmt: skip
