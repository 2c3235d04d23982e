"""Between which values an expression stays while loops around it run: no interval is too narrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom


class Span(NamedTuple):
    """From the lowest to the highest value, both included."""

    low: float
    high: float

    def plus(self, other: Span) -> Span:
        """The span of a sum."""
        return Span(self.low + other.low, self.high + other.high)

    def times(self, other: Span) -> Span:
        """The span of a product."""
        ends = [a * b for a, b in product(self, other)]
        return Span(min(ends), max(ends))


Spans = Mapping[str, Span]
"""By name; what has one value has a span of it alone."""


def span_of(expr: Expr, spans: Spans) -> Span | None:
    """The span of an expression (interval arithmetic, Moore 1966); None where a part has none.

    >>> i = Expr.name("i")
    >>> span_of(Expr.atom("mod", i + 9, Expr.const(24)) * 8, {"i": Span(0, 99)})
    Span(low=0.0, high=184.0)
    """
    total = Span(0.0, 0.0)
    for monomial, number in expr.terms.items():
        part = Span(float(number), float(number))
        for factor, power in monomial:
            own = spans.get(factor) if isinstance(factor, str) else _of_atom(factor, spans)
            if own is None:
                return None
            for _ in range(power):
                part = part.times(own)
        total = total.plus(part)
    return total


def _of_atom(atom: Atom, spans: Spans) -> Span | None:
    rule = _RULES.get(atom.kind)
    if rule is None:
        return None
    # Which side a condition takes is not asked.
    args = atom.args[1:] if atom.kind == "select" else atom.args
    known = [span for arg in args if (span := span_of(arg, spans)) is not None]
    return rule(*known) if len(known) == len(args) else None


def _remainder(value: Span, divisor: Span) -> Span | None:
    """Of a division that rounds down or towards nought: never as far from it as the divisor."""
    most = divisor.low - 1
    if most < 0 or divisor.low != divisor.high:
        return None
    if value.low >= 0:
        return value if value.high <= most else Span(0.0, most)
    return Span(-most, most)


def _quotient(value: Span, divisor: Span) -> Span | None:
    """Of a division that rounds down or towards nought."""
    if divisor.low <= 0:
        return None
    ends = [end / by for end, by in product(value, divisor)]
    low, high = min(ends), max(ends)
    return Span(low // 1, high // 1 if high >= 0 else -(-high // 1))


def _masked(value: Span, mask: Span) -> Span | None:
    """Of `value & mask`: no more than either that is never negative."""
    most = [span.high for span in (value, mask) if span.low >= 0]
    return Span(0.0, min(most)) if most else None


def _kept(value: Span, bits: Span, unsigned: Span) -> Span:
    """What an integer type keeps: the value, where it holds all of them, else any of its own."""
    size = 2.0**bits.low
    low = 0.0 if unsigned.low else -size / 2
    own = Span(low, low + size - 1)
    return value if own.low <= value.low and value.high <= own.high else own


_RULES: dict[str, Callable[..., Span | None]] = {
    "mod": _remainder,
    "floordiv": _quotient,
    "bitand": _masked,
    "wrap": _kept,
    "min": lambda *sides: Span(min(s.low for s in sides), min(s.high for s in sides)),
    "max": lambda *sides: Span(max(s.low for s in sides), max(s.high for s in sides)),
    "select": lambda then, other: Span(min(then.low, other.low), max(then.high, other.high)),
}
