"""Defines the terms of the performance model normal form, and search spaces of terms.

A term is the pair `(poly, log2)`, which means ``x**poly * log2(x)**log2`` (Shudler 2018, eq. 2.1).
A search space is a set of terms with penalties. A term with a larger penalty must explain the data
better.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Term = tuple[float, ...]
"""`(poly, log2)`: the exponents of the parameter and of its binary logarithm.

An optional third number is the factor `e` of ``2**(e*x)``, for exponential growth.
"""

FloatArray = NDArray[np.float64]

_LOGARITHMS = (0.0, 1.0, 2.0)
# Quarters up to 3, each with up to two logarithms (Shudler 2018, eq. 2.2): 38 terms.
_QUARTERS = tuple((k / 4, j) for k in range(13) for j in _LOGARITHMS if k or j)
# The additional terms of Extra-P 4, for comparable models.
_THIRDS = (
    *((i, j) for i in (1 / 3, 2 / 3) for j in _LOGARITHMS),
    (0.8, 0.0),
    *((4 / 3, j) for j in (0.0, 1.0)),
    *((i, 0.0) for i in (5 / 3, 7 / 3, 8 / 3)),
)
DEFAULT_TERMS: tuple[Term, ...] = (*_QUARTERS, *_THIRDS)
"""The default growth terms (50, in no order): those of eq. 2.2 and those of Extra-P 4."""

FAR = 16.0
"""The multiple of the largest parameter value at which predictions of models are compared."""

_POINTS_OF_PAIRS = 5  # minimum number of points for two terms: two more than coefficients
_LARGEST_POWER = 300.0  # as a power of two: squares of larger values overflow
_LARGEST = 1e150

INVERSE: Term = (-1.0, 0.0)
"""The term of perfectly divided work, ``1/p``."""

_OVERHEAD: tuple[Term, ...] = ((0.0, 1.0), (1.0, 0.0))  # thread overhead of a tree and of a queue

# Terms of common algorithms: loops, nested loops, trees, sorts, surfaces of volumes.
_COMMON: frozenset[Term] = frozenset(
    {
        (0.0, 1.0),
        (0.0, 2.0),
        (0.5, 0.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (1.5, 0.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (3.0, 0.0),
        INVERSE,
    }
)


def rarity_of_term(term: Term) -> float:
    """Returns the rarity of a term: 0 for common terms, 1 for multiples of one half with
    logarithms, 2 for the rest.

    The rarity is 3 for a logarithm with an exponent above 1 that is not a multiple of one half.

    >>> [rarity_of_term(term) for term in ((1.0, 1.0), (0.5, 1.0), (0.8, 0.0), (1.75, 1.0))]
    [0.0, 1.0, 2.0, 3.0]
    """
    if term in _COMMON:
        return 0.0
    poly, log2 = term[:2]
    if poly >= 0 and (2 * poly).is_integer() and log2 in _LOGARITHMS:
        return 1.0
    return 3.0 if log2 and poly > 1 else 2.0


def evaluate_term(term: Term, x: FloatArray | float) -> FloatArray:
    """Returns the term's value `x**poly * log2(x)**log2`, elementwise. `x` must be positive if the
    exponents require it.
    """
    poly, log2 = term[:2]
    values = np.asarray(x, dtype=np.float64)
    result = np.power(values, poly) if poly else np.ones_like(values)
    if log2:
        result = result * np.power(np.log2(values), log2)
    return result * np.exp2(term[2] * values) if len(term) > 2 else result


def evaluate_all(terms: Sequence[Term], x: FloatArray) -> FloatArray:
    """Returns the values `(h, n)` of `h` terms at `n` parameter values.

    >>> evaluate_all([(1.0, 0.0), (0.0, 2.0)], np.array([2.0, 8.0])).tolist()
    [[2.0, 8.0], [1.0, 9.0]]
    """
    polys = {poly: row for row, poly in enumerate(dict.fromkeys(term[0] for term in terms))}
    logs = {log2: row for row, log2 in enumerate(dict.fromkeys(term[1] for term in terms))}
    if not terms:
        return np.empty((0, len(x)))
    powers = np.array([np.power(x, poly) for poly in polys])
    logarithms = np.array(
        [np.power(np.log2(x), log2) if log2 else np.ones_like(x) for log2 in logs]
    )
    columns: FloatArray = (
        powers[[polys[term[0]] for term in terms]] * logarithms[[logs[term[1]] for term in terms]]
    )
    for row, term in enumerate(terms):
        if len(term) > 2:
            columns[row] *= np.exp2(term[2] * x)
    return columns


def growth_order(term: Term) -> tuple[float, float, float]:
    """Returns a sort key that orders terms by growth. It compares exponentials, then powers, then
    logarithms.

    >>> growth_order((3.0, 0.0)) < growth_order((0.0, 0.0, 1.0))
    True
    """
    return (term[2] if len(term) > 2 else 0.0, term[0], term[1])


def is_growth(term: Term) -> bool:
    """Whether the term tends to infinity with its parameter.

    >>> is_growth((0.0, 1.0)), is_growth((-1.0, 0.0)), is_growth((0.0, 0.0))
    (True, False, False)
    """
    return growth_order(term) > (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CompiledSpace:
    """A search space at the `n` values of one parameter, with the `h` terms defined there.

    `columns` has shape `(h, n)`, and `stacked` `(n, 2h)` has the columns next to their squares.
    `inverse` is `1/columns`, with a huge number where a column is zero. `transposed` and
    `inverse_transposed` have shape `(n, h)`. `pairs_a`, `pairs_b` and `pair_rarity` list the
    `h(h-1)/2` pairs of terms. `divided_pairs` marks those with `1/p`, and `overhead_pairs` those
    with `1/p` and `log2(p)` or `p`. `smallest` is the index of the smallest value. `far` `(h,)` are
    the terms at `FAR` times the largest. `kept` is a cache of intermediate results for searches at
    the same parameter values.
    """

    terms: tuple[Term, ...]
    columns: FloatArray
    transposed: FloatArray
    stacked: FloatArray
    inverse: FloatArray
    inverse_transposed: FloatArray
    rarity: FloatArray
    pairs_a: NDArray[np.intp]
    pairs_b: NDArray[np.intp]
    pair_rarity: FloatArray
    divided_pairs: NDArray[np.bool_]
    overhead_pairs: NDArray[np.bool_]
    smallest: int
    far: FloatArray
    kept: dict[Hashable, object] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The terms that models of one parameter may contain, and the rarity of each
    (dimensionless).
    """

    terms: tuple[Term, ...]
    rarities: tuple[float, ...]
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The hash is stored, since each fit looks up a point plan by its search space.
        object.__setattr__(self, "_hash", hash((self.terms, self.rarities)))

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    def of(terms: Iterable[Term], *, rarities: Sequence[float] | None = None) -> SearchSpace:
        """Creates a search space of these terms. `rarities` defaults to the
        `rarity_of_term` of each term.
        """
        kept = tuple(dict.fromkeys(tuple(map(float, term)) for term in terms if any(term)))
        given = (
            tuple(rarity_of_term(term) for term in kept) if rarities is None else tuple(rarities)
        )
        return SearchSpace(kept, given)

    @staticmethod
    def from_exponents(
        poly: Sequence[float], log2: Sequence[float], *, negative: bool = True
    ) -> SearchSpace:
        """Creates a search space of all combinations of the exponents (Shudler 2018, eq. 2.2).

        >>> SearchSpace.from_exponents([0, 1], [0, 1], negative=False).terms
        ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
        """
        terms = [(i, j) for i in poly for j in log2]
        return SearchSpace.of(([*terms, INVERSE]) if negative else terms)

    def compiled(self, x: FloatArray) -> CompiledSpace:
        """Evaluates the terms at the values `(n,)` of one parameter. Terms that are undefined there
        are removed.
        """
        lowest = float(x.min())
        usable = [
            (term, rare)
            for term, rare in zip(self.terms, self.rarities, strict=True)
            if (lowest >= 1 or term[1] == 0)
            and (lowest > 0 or term[0] > 0)
            and growth_order(term)[0] * float(x.max()) <= _LARGEST_POWER
        ]
        terms = tuple(term for term, _ in usable)
        with np.errstate(over="ignore"):
            with_far = evaluate_all(terms, np.append(x, FAR * x.max()))
        columns = np.ascontiguousarray(with_far[:, :-1])
        rarities = np.array([rare for _, rare in usable])
        overhead = np.array([term in _OVERHEAD for term in terms], dtype=bool)
        first, second = np.triu_indices(len(terms) if len(x) >= _POINTS_OF_PAIRS else 0, 1)
        divided = np.zeros(len(first), dtype=bool)
        if INVERSE in terms:
            divided = (first == terms.index(INVERSE)) | (second == terms.index(INVERSE))
        with np.errstate(divide="ignore"):
            inverse = np.where(columns > 0, 1.0 / columns, 1e200)
        return CompiledSpace(
            terms=terms,
            columns=columns,
            transposed=np.ascontiguousarray(columns.T),
            stacked=np.ascontiguousarray(np.concatenate([columns, columns**2]).T),
            inverse=inverse,
            inverse_transposed=np.ascontiguousarray(inverse.T),
            rarity=rarities,
            pairs_a=first,
            pairs_b=second,
            pair_rarity=rarities[first] + rarities[second],
            divided_pairs=divided,
            overhead_pairs=divided & (overhead[first] | overhead[second]),
            smallest=int(np.argmin(x)),
            far=np.minimum(with_far[:, -1], _LARGEST),
        )


DEFAULT_SPACE = SearchSpace.of((*DEFAULT_TERMS, INVERSE))
"""The default terms and `1/p`, for run times that decrease with the number of threads."""


def exponent_text(value: float, *, style: str = "text") -> str:
    """Formats an exponent as an integer or a fraction if possible.

    >>> [exponent_text(v) for v in (1/3, 0.5, 2.0, -1.0, 0.8, 0.123456)]
    ['1/3', '1/2', '2', '-1', '4/5', '0.1235']
    """
    fraction = Fraction(value).limit_denominator(16)
    if abs(float(fraction) - value) > 1e-9:
        return f"{value:.4g}"
    return str(fraction) if style == "text" or fraction.denominator > 1 else str(int(fraction))


def term_text(name: str, term: Term, *, style: str = "text") -> str:
    """Formats a term in the style `text`, `python` or `latex`.

    >>> term_text("p", (0.5, 1.0)), term_text("p", (1.0, 0.0)), term_text("p", (0.0, 2.0))
    ('p^(1/2)*log2(p)', 'p', 'log2(p)^2')
    >>> term_text("p", (0.5, 1.0), style="python"), term_text("p", (0.5, 2.0), style="latex")
    ('p**(1/2)*log2(p)', 'p^{1/2} \\\\log_2^{2} p')
    """
    poly, log2 = term[:2]
    if len(term) > 2 and term[2]:
        exponent = name if term[2] == 1 else f"{exponent_text(term[2])}*{name}"
        power = {
            "latex": f"2^{{{exponent.replace('*', ' ')}}}",
            "python": f"2**({exponent})",
            "text": f"2^{exponent}" if term[2] == 1 else f"2^({exponent})",
        }[style]
        factors = term_text(name, term[:2], style=style) if any(term[:2]) else ""
        return (" " if style == "latex" else "*").join([factors, power] if factors else [power])
    if style == "latex":
        power = f"^{{{exponent_text(poly)}}}"
        logs = "" if log2 == 1 else f"^{{{exponent_text(log2)}}}"
        parts = [f"{name}{'' if poly == 1 else power}"] if poly else []
        return " ".join([*parts, f"\\log_2{logs} {name}"] if log2 else parts)
    operator = "**" if style == "python" else "^"

    def raised(base: str, exponent: float) -> str:
        if exponent == 1:
            return base
        text = exponent_text(exponent)
        return f"{base}{operator}{text if text.isdigit() else f'({text})'}"

    parts = [raised(name, poly)] if poly else []
    return "*".join([*parts, raised(f"log2({name})", log2)] if log2 else parts)
