"""Parses, compares, divides and formats growth in big O notation.

Shudler 2018, sec. 3.2.3, has three classes of growth: logarithms, powers and exponentials. A
`Growth` is a product of one of each, ``x^poly * log2(x)^log2 * 2^(exponential*x)``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from regionpredict.errors import InputError
from regionpredict.fit.model.terms import Term, exponent_text

_TOLERANCE = 0.006  # published exponents have two digits: 0.67 is 2/3


@dataclass(frozen=True, slots=True)
class Growth:
    """An asymptotic growth in one parameter. Exponents may be negative, for example in a
    quotient.
    """

    exponential: float = 0.0
    poly: float = 0.0
    log2: float = 0.0

    @property
    def order(self) -> tuple[float, float, float]:
        """A sort key that orders growths. Differences below the precision of published exponents
        are ignored.
        """
        return (
            _rounded_exponent(self.exponential),
            _rounded_exponent(self.poly),
            _rounded_exponent(self.log2),
        )

    @property
    def function_class(self) -> int:
        """The class of growth: 1 for logarithms and constants, 2 for powers, 3 for exponentials."""
        return 3 if self.exponential else 2 if self.poly else 1

    @property
    def term(self) -> Term:
        """The growth as a term of the performance model normal form."""
        if self.exponential:
            return (self.poly, self.log2, self.exponential)
        return (self.poly, self.log2)

    def __mul__(self, other: Growth) -> Growth:
        return Growth(
            self.exponential + other.exponential,
            self.poly + other.poly,
            self.log2 + other.log2,
        )

    def __truediv__(self, other: Growth) -> Growth:
        return self * other**-1

    def __pow__(self, power: float) -> Growth:
        return Growth(self.exponential * power, self.poly * power, self.log2 * power)

    def is_constant(self) -> bool:
        """Whether the growth is constant."""
        return self.order == (0.0, 0.0, 0.0)

    def text(self, name: str = "p") -> str:
        """The growth in common notation.

        >>> Growth(poly=0.5, log2=-1).text(), Growth(log2=-1).text(), Growth().text()
        ('p^(1/2)/log(p)', '1/log(p)', '1')
        >>> Growth(exponential=1, poly=3).text("k")
        'k^3*2^k'
        """
        above: list[str] = []
        below: list[str] = []
        for base, exponent in ((name, self.poly), (f"log({name})", self.log2)):
            if not _rounded_exponent(exponent):
                continue
            size = _exponent_with_fraction(abs(exponent))
            power = "" if size == "1" else f"^{size}" if size.isdigit() else f"^({size})"
            # Only a quotient with a numerator other than 1 is written as a fraction.
            (above if exponent > 0 else below).append(f"{base}{power}")
        if _rounded_exponent(self.exponential):
            size = _exponent_with_fraction(abs(self.exponential))
            text = f"2^{name}" if size == "1" else f"2^({size}*{name})"
            (above if self.exponential > 0 else below).append(text)
        top = "*".join(above) or "1"
        return f"{top}/{'/'.join(below)}" if below else top


ONE = Growth()
"""The growth of a constant."""


def _rounded_exponent(value: float) -> float:
    return 0.0 if abs(value) < _TOLERANCE else round(value / _TOLERANCE) * _TOLERANCE


def _exponent_with_fraction(value: float) -> str:
    for denominator in (1, 2, 3, 4, 5, 6, 8, 12):
        numerator = round(value * denominator)
        if numerator and abs(numerator / denominator - value) < _TOLERANCE:
            return exponent_text(numerator / denominator)
    return f"{value:.3g}"


def compare(a: Growth, b: Growth) -> int:
    """Returns -1 if `a` grows more slowly than `b`, 0 if both grow equally, and 1 if `a` grows
    faster.

    >>> compare(Growth(log2=5), Growth(poly=0.25)), compare(Growth(poly=0.67), Growth(poly=2/3))
    (-1, 0)
    """
    for left, right in zip((a / b).order, (0.0, 0.0, 0.0), strict=True):
        if left != right:
            return 1 if left > right else -1
    return 0


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/^(){}]))"
)


def parse(text: str, parameter: str | None = None, path: str = "") -> tuple[Growth, str]:
    """Reads a growth such as `O(p log p)`, `n^2.81`, `k^3*2^k`, `sqrt(p)/log(p)`, `log^2 p`.

    A sum has the growth of its fastest growing summand. Coefficients are ignored. Returns the
    growth and the parameter's name (`parameter`, or `p` if the text has none). Raises `InputError`
    with the column for text that does not parse, and for a second parameter.

    >>> parse("O(4 p log p + p^2)")
    (Growth(exponential=0.0, poly=2.0, log2=0.0), 'p')
    """
    return _Parser(text, parameter, path).parse_all()


class _Parser:
    """A recursive descent parser of one growth expression."""

    def __init__(self, text: str, parameter: str | None, path: str) -> None:
        self.text, self.parameter, self.path = text, parameter, path
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        stripped = text.rstrip()
        while place < len(stripped):
            match = _TOKEN.match(stripped, place)
            if match is None:
                raise self.error(f"'{stripped[place:].strip()[:12]}' is not understood", place)
            kind = str(match.lastgroup)
            start = match.start(kind)
            self.tokens.append((kind, match.group(kind), start))
            place = match.end()
        self.at = 0

    def error(self, what: str, place: int) -> InputError:
        return InputError(
            f"the expectation '{self.text}' does not parse: {what}",
            remedy="write it like O(p log p), n^2 or k^3*2^k",
            path=self.path,
            column=place + 1 if not self.path else None,
        )

    def following_token(self) -> tuple[str, str, int]:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return ("end", "", len(self.text))

    def next_token(self) -> tuple[str, str, int]:
        token = self.following_token()
        self.at += 1
        return token

    def parse_all(self) -> tuple[Growth, str]:
        if not self.tokens:
            raise self.error("it is empty", 0)
        if (
            self.following_token()[1] in ("O", "Theta")
            and len(self.tokens) > 1
            and self.tokens[1][1] == "("
        ):
            self.next_token()
        growth = self.sum()
        if self.following_token()[0] != "end":
            raise self.error(
                f"'{self.following_token()[1]}' is unexpected", self.following_token()[2]
            )
        return growth, self.parameter or "p"

    def sum(self) -> Growth:
        growth = self.product()
        while self.following_token()[1] in ("+", "-"):
            self.next_token()
            other = self.product()
            growth = other if compare(other, growth) > 0 else growth
        return growth

    def product(self) -> Growth:
        growth = self.parse_power()
        while True:
            kind, text, _ = self.following_token()
            if text == "*":
                self.next_token()
                growth = growth * self.parse_power()
            elif text == "/":
                self.next_token()
                growth = growth / self.parse_power()
            elif kind in ("number", "name") or text in ("(", "{"):
                growth = growth * self.parse_power()
            else:
                return growth

    def parse_power(self) -> Growth:
        kind, text, place = self.next_token()
        if kind == "number":
            if self.following_token()[1] not in ("^", "**"):
                return ONE
            self.next_token()
            return self.exponential(float(text), place)
        if kind == "name":
            return self.name_or_function(text, place)
        if text in ("(", "{"):
            inner = self.sum()
            self.expect_closing_parenthesis(place)
            return self.with_exponent(inner)
        raise self.error(f"'{text}' is unexpected" if text else "it ends too early", place)

    def name_or_function(self, text: str, place: int) -> Growth:
        if text in ("log", "log2", "ln", "lg", "sqrt"):
            inner_power = 1.0
            if self.following_token()[1] in ("^", "**"):
                self.next_token()
                inner_power = self.number()
            start = self.following_token()[2]
            inner = self.function_argument()
            if text == "sqrt":
                return inner**0.5
            if inner.exponential:
                return self.with_exponent(Growth(poly=inner_power))
            if inner.poly <= 0:
                raise self.error("a logarithm needs a power of the parameter", start)
            return self.with_exponent(Growth(log2=inner_power))
        if self.parameter is None:
            self.parameter = text
        if text != self.parameter:
            raise self.error(f"'{text}' is not the parameter '{self.parameter}'", place)
        return self.with_exponent(Growth(poly=1.0))

    def function_argument(self) -> Growth:
        """Parses the argument of a function: a name, or an expression in parentheses."""
        kind, text, place = self.next_token()
        if text in ("(", "{"):
            inner = self.sum()
            self.expect_closing_parenthesis(place)
            return inner
        if kind == "name":
            if self.parameter is None:
                self.parameter = text
            if text != self.parameter:
                raise self.error(f"'{text}' is not the parameter '{self.parameter}'", place)
            return Growth(poly=1.0)
        raise self.error("a function needs an argument", place)

    def with_exponent(self, base: Growth) -> Growth:
        if self.following_token()[1] in ("^", "**"):
            self.next_token()
            return base ** self.number()
        return base

    def exponential(self, base: float, place: int) -> Growth:
        """Parses the exponent after `2^`: the parameter with an optional factor, or a plain
        number.
        """
        if base <= 1:
            raise self.error("the base of an exponential must be above 1", place)
        factor = math.log2(base)
        kind, text, start = self.next_token()
        if text in ("(", "{"):
            share, has_exponential = 1.0, False
            while (
                self.following_token()[1] not in (")", "}") and self.following_token()[0] != "end"
            ):
                kind, text, start = self.next_token()
                if kind == "number":
                    share *= float(text)
                elif text == "/":
                    share /= float(self.next_token()[1])
                elif kind == "name":
                    has_exponential = True
                    self.require_parameter(text, start)
                elif text != "*":
                    raise self.error(f"'{text}' is unexpected", start)
            self.expect_closing_parenthesis(start)
            return Growth(exponential=factor * share) if has_exponential else ONE
        if kind == "number":
            return ONE
        self.require_parameter(text, start)
        return Growth(exponential=factor)

    def require_parameter(self, text: str, place: int) -> None:
        if self.parameter is None:
            self.parameter = text
        if text != self.parameter:
            raise self.error(f"'{text}' is not the parameter '{self.parameter}'", place)

    def number(self) -> float:
        """Parses an exponent: a number with an optional sign, or a fraction in parentheses."""
        kind, text, place = self.next_token()
        if text in ("(", "{"):
            value = self.number()
            if self.following_token()[1] == "/":
                self.next_token()
                value /= self.number()
            self.expect_closing_parenthesis(place)
            return value
        if text == "-":
            return -self.number()
        if kind != "number":
            raise self.error("an exponent must be a number", place)
        return float(text)

    def expect_closing_parenthesis(self, place: int) -> None:
        if self.next_token()[1] not in (")", "}"):
            raise self.error("a parenthesis is not closed", place)
