"""Creates search spaces from exponents, single terms, or a growth to search around."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from regionpredict.errors import InputError
from regionpredict.fit.expectations.growth import Growth, compare, parse
from regionpredict.fit.model.terms import DEFAULT_TERMS, INVERSE, SearchSpace, Term, rarity_of_term

FINEST_STEPS = 6
"""The maximum number of bisections in `search_space`. Another bisection would add hundreds of terms
that points cannot distinguish.
"""

_MOST_EXPONENTS = 100  # maximum number and size of exponents


def search_space(
    expected: Growth, *, steps: int = 2, finer: Sequence[float] = (1.0,)
) -> tuple[Growth, ...]:
    """Returns the growths among which the model is searched. They are arranged like the ticks of a
    ruler.

    Long ticks are in the expectation's class, between a constant and its square. They are bisected
    `steps` times. Short ticks are long ticks times a growth of the next lower class with an
    exponent in `finer`, within the same bounds. For a constant, the space of `p log p` is used.

    >>> [g.text() for g in search_space(Growth(poly=1), steps=0)]
    ['1', 'log(p)', 'p', 'p*log(p)', 'p^2']
    """
    if expected.is_constant():
        return search_space(Growth(poly=1), steps=steps, finer=finer)
    count = 2 ** (steps + 1)
    if expected.exponential:
        powers = [2 * expected.exponential * k / count for k in range(count + 1)]
        own = {*finer, *(float(k) for k in range(1, int(2 * expected.poly) + 1)), expected.poly}
        ticks = [Growth(exponential=e) for e in powers]
        short = [t * Growth(poly=i) for t in ticks for i in own]
    elif expected.poly:
        ticks = [Growth(poly=2 * expected.poly * k / count) for k in range(count + 1)]
        own = {*finer, *((expected.log2,) if expected.log2 else ())}
        short = [t * Growth(log2=j) for t in ticks for j in own]
    else:
        ticks = [Growth(log2=2 * expected.log2 * k / count) for k in range(count + 1)]
        short = []
    top = expected**2
    ticks_by_order = {g.order: g for g in (*ticks, expected, *short) if compare(g, top) <= 0}
    return tuple(ticks_by_order[order] for order in sorted(ticks_by_order))


def space_around(growth: Growth, *, steps: int = 2) -> SearchSpace:
    """Creates a search space of the growths in `search_space`, and of the default terms with a
    larger penalty.

    Without the default terms, a growth beyond the largest of these growths would be modeled as the
    largest.
    """
    beyond = {term: 1.0 + rarity_of_term(term) for term in (*DEFAULT_TERMS, INVERSE)}
    ticks = [g.term for g in search_space(growth, steps=steps) if not g.is_constant()]
    rarities = {**beyond, **dict.fromkeys(ticks, 1.0)}
    return SearchSpace.of(rarities, rarities=list(rarities.values()))


def space_of(
    exponents: str | None = None, terms: Sequence[str] = (), search: str | None = None
) -> SearchSpace | None:
    """Returns the requested search space, or None for the default.

    `exponents` is `I:J`, for the parameter and for its logarithm. `terms` are additional growths
    such as `p^3*log2(p)^2`. `search` is a growth to search around, including the default terms.
    Raises `InputError` for a syntax error.

    >>> space_of("0,1/2,1:0,1").terms
    ((0.0, 1.0), (0.5, 0.0), (0.5, 1.0), (1.0, 0.0), (1.0, 1.0))
    >>> space_of(terms=["p^3*log2(p)^2"]).terms
    ((3.0, 2.0),)
    """
    listed: dict[Term, float] = {}
    if exponents is not None:
        polys, logs = exponent_sets(exponents)
        listed |= {(i, j): rarity_of_term((i, j)) for i in polys for j in logs if i or j}
    for text in terms:
        growth = parse(text)[0]
        if growth.is_constant():
            raise InputError(
                f"the term '{text}' is a constant, which every model has",
                remedy="write one that grows, such as p^3*log2(p)^2",
            )
        listed[growth.term] = 0.0
    if search is not None:
        around = space_around(parse(search)[0])
        listed = {**dict(zip(around.terms, around.rarities, strict=True)), **listed}
    return SearchSpace.of(listed, rarities=list(listed.values())) if listed else None


def exponent_sets(text: str) -> tuple[list[float], list[float]]:
    """Parses the exponent sets I and J of Shudler 2018, eq. 2.1, from a text such as `0,1/2,1:0,1`
    or `0..3..1/4:0..2`.

    Raises `InputError` for any other text.

    >>> exponent_sets("0..1..1/2:0,1")
    ([0.0, 0.5, 1.0], [0.0, 1.0])
    """
    polys, colon, logs = text.partition(":")
    try:
        if not colon:
            raise ValueError
        sets = [_parse_exponent_list(part) for part in (polys, logs)]
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"'{text}' is not two lists of exponents",
            remedy="write those of the parameter and of its logarithm, such as 0,1/2,1:0,1 or "
            "0..3..1/4:0..2",
        ) from None
    if not any(any(numbers) for numbers in sets):
        raise InputError(f"'{text}' has no exponent but 0", remedy="add one that grows")
    return sets[0], sets[1]


def _parse_exponent_list(text: str) -> list[float]:
    """Parses a list of numbers. `a..b..c` counts from a to b in steps of c (default: 1)."""
    numbers: list[float] = []
    for part in text.split(","):
        ends = [Fraction(end.strip()) for end in part.split("..")]
        if len(ends) == 1:
            numbers.append(float(ends[0]))
            continue
        first, last, step = ends if len(ends) == 3 else (*ends, Fraction(1))
        if step <= 0 or last < first or (last - first) / step > _MOST_EXPONENTS:
            raise ValueError
        numbers += [float(first + k * step) for k in range(int((last - first) / step) + 1)]
    if len(numbers) > _MOST_EXPONENTS or max(map(abs, numbers)) > _MOST_EXPONENTS:
        raise ValueError
    return list(dict.fromkeys(numbers))
