"""The density model of Chatzopoulos 2012, chapter 4.

Each statement of the loop body has a good score and a bad score. The good score counts arithmetic
and cache hits, weighted by latency. The bad score counts memory accesses, weighted by read or write
and by streaming or latency. Equation 4.1 gives the region's score from the averages, and equation
4.2 gives the miss probability. The range [0, 1] is divided into equal areas. The area that contains
the score gives the number of sockets. Choices that the thesis does not specify are listed in
docs/density.md, and variants in density_form.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.errors import plural
from regionpredict.machine import ELEMENT_BYTES, Machine
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
from regionpredict.predict.density_form import TO_THE_LETTER, DensityForm
from regionpredict.predict.estimate import DensityDerivation, Estimate, StatementScore, Term
from regionpredict.workload import ReferenceRow, StatementRow, StatementTable


def predict_density(
    table: StatementTable, machine: Machine, form: DensityForm = TO_THE_LETTER,
    *, threads: Sequence[int] = (),
) -> Estimate:  # fmt: skip
    """Returns the estimate of one region by the density model.

    `form` selects the variant of the model. `threads` are the allowed numbers of threads in
    ascending order. The largest one determines the number of sockets and areas. If `threads` is
    empty, any number of whole sockets is allowed. The ratio r = good/bad is mapped to [0, 1] as
    r/(1+r), and to 1 if bad is zero. The same areas therefore apply to both combinations.
    """
    if table.status == "skipped":
        return _skipped_estimate(table)
    size, assumed = _working_set(table, machine)
    probability = miss_probability(size, machine.largest_cache_bytes)
    unit = ELEMENT_BYTES if form.by_element_size else None
    scores = tuple(_statement_score(s, machine, probability, unit) for s in table.statements)
    counts, unknown = _statement_weights(table.statements, form)
    assumed += unknown
    good, bad = (
        _average([s.good for s in scores], counts),
        _average([s.bad for s in scores], counts),
    )
    score = combine_scores(good, bad, form.combination)
    most = packages_filled(max(threads), machine) if threads else machine.packages
    bounds, other = _boundaries_for(machine, most)
    assumed += other
    notes = list(table.diagnostics)
    wanted = packages_for(score, most, bounds)
    count = _allowed_threads(wanted * machine.cores_per_package, threads)
    packages = min(packages_filled(count, machine), most) if threads else wanted
    iterations = table.iterations
    if iterations is not None and 0 < iterations < count:
        message = f"only {plural(iterations, 'iteration')} for {plural(count, 'thread')}"
        notes.append(table.diagnostic("RP109", message))
        count = _allowed_threads(iterations, threads)
    partial = table.status == "partial" or not (good or bad)
    near = boundary_distance(score, most, bounds)
    return Estimate(
        model="density",
        status="partial" if partial else "predicted",
        score=score,
        miss_probability=probability,
        working_set_bytes=table.working_set_bytes,
        speedup=(),
        packages=packages,
        threads=count,
        bottleneck=_bottleneck(scores, packages, most),
        confidence=_confidence(packages, most, machine, assumed, partial=partial),
        borderline=near < BORDERLINE.value,
        assumed=assumed,
        diagnostics=tuple(notes),
        derivation=DensityDerivation(
            scores,
            good,
            bad,
            form,
            machine.largest_cache_bytes,
            size,
            bounds,
            counts,
        ),
    )


def combine_scores(good: float, bad: float, combination: str = "relative-difference") -> float:
    """Combines the good and the bad score to the score of a region, from 0 (bad) to 1. The formula
    is equation 4.1 or the plain ratio.

    >>> combine_scores(3.0, 1.0), combine_scores(1.0, 3.0), combine_scores(3.0, 1.0, "ratio")
    (0.5, 0.0, 0.75)
    """
    if good + bad == 0:
        return 0.0
    if combination == "ratio":
        return good / (good + bad)
    return max(0.0, (good - bad) / (good + bad))


def miss_probability(working_set: int, cache: int) -> float:
    """Returns the miss probability max(0, 1 - cache / working set) of equation 4.2.

    >>> miss_probability(160, 16), miss_probability(8, 16)
    (0.9, 0.0)
    """
    return max(0.0, 1.0 - cache / working_set) if working_set > 0 else 0.0


def equal_thresholds(packages: int) -> tuple[float, ...]:
    """Returns the boundaries of equal areas of the score.

    >>> equal_thresholds(2), equal_thresholds(4)
    ((0.5,), (0.25, 0.5, 0.75))
    """
    return tuple(part / packages for part in range(1, packages))


def area_boundaries(machine: Machine) -> tuple[float, ...]:
    """Returns the boundaries in the machine file, or the boundaries of equal areas."""
    own = tuple(bound.value for bound in machine.density.thresholds)
    return own or equal_thresholds(machine.packages)


def packages_filled(threads: int, machine: Machine) -> int:
    """Returns the number of sockets that this number of threads uses, if threads fill one socket
    after the other.
    """
    return min(machine.packages, -(-threads // machine.cores_per_package))


def _boundaries_for(machine: Machine, packages: int) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Returns the boundaries for this number of sockets of the machine, and the assumptions.

    Boundaries in a machine file were fitted to all sockets. For fewer sockets, the areas are equal
    (Chatzopoulos 2012, section 6.4, figures 6.4 and 6.6).
    """
    if packages == machine.packages:
        return area_boundaries(machine), ()
    if not machine.density.thresholds:
        return equal_thresholds(packages), ()
    return equal_thresholds(packages), (
        f"equal areas for {packages} of {machine.packages} packages: the boundaries of "
        f"{machine.name} are those of all",
    )


def _allowed_threads(most: int, allowed: Sequence[int]) -> int:
    """Returns the largest allowed number of threads up to `most`, or the smallest allowed number if
    all numbers exceed `most`.
    """
    if not allowed:
        return most
    return max((count for count in allowed if count <= most), default=min(allowed))


def _statement_weights(
    rows: Sequence[StatementRow], form: DensityForm
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Returns the weight of each statement in the averages, and the assumptions."""
    alike = (1,) * len(rows)
    if not form.by_executions:
        return alike, ()
    counts = [row.executions for row in rows if row.executions is not None]
    if len(counts) < len(rows):
        row = next(row for row in rows if row.executions is None)
        return alike, (
            f"all statements run equally often (the number for line {row.line} is unknown)",
        )
    return (tuple(counts), ()) if any(counts) else (alike, ())


def packages_for(score: float, packages: int, bounds: Sequence[float] = ()) -> int:
    """Returns the number of sockets for a score. A score on a boundary belongs to the upper area.

    `bounds` are the boundaries of the areas. If empty, the areas are equal.

    >>> [packages_for(score, 4) for score in (0.0, 0.24, 0.25, 0.6, 1.0)]
    [1, 1, 2, 3, 4]
    """
    bounds = bounds or equal_thresholds(packages)
    return min(packages, 1 + sum(score >= boundary for boundary in bounds))


def boundary_distance(score: float, packages: int, bounds: Sequence[float] = ()) -> float:
    """Returns the distance of the score from the nearest boundary, or 1 for a single socket."""
    bounds = bounds or equal_thresholds(packages)
    return min((abs(score - boundary) for boundary in bounds), default=1.0)


def operation_weight(kind: str, machine: Machine) -> float:
    """Returns the weight of an operation in cycles. A function without its own weight has the
    weight of a call.
    """
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


def _statement_score(
    row: StatementRow, machine: Machine, probability: float, unit: int | None
) -> StatementScore:
    terms = [
        Term("operation", kind, number, operation_weight(kind, machine))
        for kind, number in row.operations
    ]
    for reference in row.references:
        terms += _reference_terms(reference, machine, probability, unit)
    return StatementScore(row.line, row.text, tuple(terms))


def _reference_terms(
    row: ReferenceRow, machine: Machine, probability: float, unit: int | None
) -> list[Term]:
    """Returns the terms of one reference. If `unit` (bytes) is given, the weight of a streaming
    miss is proportional to the bytes that it moves.

    A latency miss always loads a whole line.
    """
    if not row.counted:
        return []
    hit = machine.density.hit.value
    what = f"{row.kind} {row.text}"
    if row.reuse == "hit":
        return [Term("hit", what, 1.0, hit)]
    weight = machine.density.miss[row.kind, row.pattern].value
    if unit is not None and row.pattern == "streaming":
        weight *= min(row.bytes, machine.line_bytes) / unit
    missed = Term(f"{row.pattern} miss", what, probability, weight)
    served = Term("miss that hits", what, 1.0 - probability, hit)
    return [term for term in (missed, served) if term.number > 0]


def _average(samples: Sequence[float], counts: Sequence[int]) -> float:
    if len(set(counts)) <= 1:
        return sum(samples) / len(samples) if samples else 0.0
    total = sum(counts)  # integers, since their product may overflow a float
    return sum(value * (count / total) for value, count in zip(samples, counts, strict=True))


def _bottleneck(scores: Sequence[StatementScore], packages: int, most: int) -> str | None:
    """Returns the bottleneck that prevents the use of more sockets, or the largest part of the time
    if all sockets are used.
    """
    if not any(score.terms for score in scores):
        return None
    if packages < most:
        return "memory-bandwidth"
    terms = [term for score in scores for term in score.terms]
    work = sum(term.value for term in terms if term.kind == "operation")
    cached = sum(term.value for term in terms if term.good) - work
    return "cache" if cached > work else "compute"


def success_rate(packages: int, machine: Machine, most: int) -> float:
    """Returns the share of hints of `packages` out of `most` sockets that were right for measured
    programs.

    For a machine calibrated with the user's programs, the share comes from cross-validation. With
    one socket, it is 1.
    """
    if most == 1:
        return 1.0
    corrections = machine.corrections
    own = corrections.cross_validated.get("density_success")
    if own is not None and most == machine.packages:
        corrected = corrections.density or corrections.thresholds
        return own.after if corrected else own.before
    if machine.memory.shared_path is None:
        fewer, all_of_them = FEWER_OF_DOMAINS, ALL_OF_DOMAINS
    else:
        fewer, all_of_them = FEWER_OF_ONE_PATH, ALL_OF_ONE_PATH
    return all_of_them.value if packages == most else fewer.value


def _confidence(
    packages: int, most: int, machine: Machine, assumed: tuple[str, ...], *, partial: bool
) -> float:
    """Returns the expected share of right hints, reduced for each assumption."""
    sure = success_rate(packages, machine, most) * ASSUMPTION_CONFIDENCE.value ** len(assumed)
    return round(sure * (PARTIAL_CONFIDENCE.value if partial else 1.0), 3)


def _skipped_estimate(table: StatementTable) -> Estimate:
    return Estimate(
        model="density", status="skipped", score=None, miss_probability=None,
        working_set_bytes=None, speedup=(), packages=None, threads=None, bottleneck=None,
        confidence=0.0, borderline=False, assumed=(), diagnostics=table.diagnostics,
    )  # fmt: skip
