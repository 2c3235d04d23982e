"""Converts the header of a `for` loop to a C expression of its trip count.

The program itself evaluates it, before the loop. OpenMP does not specify how often the bounds of a
canonical loop are evaluated, nor the effect of side effects in them (OpenMP 5.2, sec. 4.4.1).
Another evaluation therefore has no effect on a correct program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from regionpredict.measure.ctext import (
    Header,
    NotUnderstoodError,
    Token,
    next_token_or_error,
    read_header,
)

UNKNOWN = "-1LL"
RANGE = "regionpredict_range"
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_CHANGES = frozenset(
    ("=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
)
_ASKING = re.compile(r"\bomp_get_\w+\s*\(\s*\)")
_CALL_OR_CHANGE = re.compile(r"\w\s*\(|\+\+|--|(?<![=!<>])=(?!=)")
_LOOSE = frozenset(("?", ",", "&&", "||"))


class Canonical(NamedTuple):
    """A canonical loop: `for (variable = start; variable comparison bound; variable += step)`. All
    fields are C text. `step` is positive, and `down` means that the loop counts down.
    """

    variable: str
    start: str
    comparison: str
    bound: str
    step: str
    down: bool
    declares: str  # the text before the variable, as in `for (int i = 0; ...`


def canonical(header: Header) -> Canonical:
    """Returns the loop's variable, bounds and step. Raises NotUnderstoodError if it is not
    canonical.
    """
    variable, step, down = _parse_increment(header.increment)
    start, declares = _parse_start(header.init, variable)
    comparison, bound = _parse_condition(header.condition, variable)
    if comparison in ("<", "<=") if down else comparison in (">", ">="):
        raise NotUnderstoodError("the step leads away from the bound")
    for part in (start, bound, step):
        if any(token.text in _CHANGES for token in part) or "," in _token_texts(
            _outside_brackets(part)
        ):
            raise NotUnderstoodError("a bound with a side effect")
    return Canonical(
        variable,
        _joined_text(start),
        comparison,
        _joined_text(bound),
        _joined_text(step),
        down,
        _joined_text(declares),
    )


def trip_count(text: str, at: int, collapse: int) -> tuple[str, int]:
    """Returns the C expression of the total iterations of the `collapse` loops from `at` on, and
    the first loop's offset.

    The expression is `UNKNOWN` if a loop is not canonical. Raises NotUnderstoodError without any
    `for`.
    """
    first = read_header(text, at)
    if collapse == 1 and not first.condition and (over := _range_expression(first.init)):
        return f"{RANGE}({_joined_text(over)},0)", first.begin
    headers = [first]
    try:
        for _ in range(collapse - 1):
            headers.append(_next_header(text, headers[-1].end))
        loops = [canonical(header) for header in headers]
    except NotUnderstoodError:
        return UNKNOWN, first.begin
    expression = loop_trip_count(loops[-1])
    for depth in range(len(loops) - 2, -1, -1):
        outer, inner = loops[depth], loops[depth + 1 :]
        if any(_uses_name(loop, outer.variable) for loop in inner):
            expression = _sum_of_inner_trips(outer, expression)
        else:
            expression = f"({loop_trip_count(outer)}*{expression})"
    return expression, first.begin


def has_side_effect(expression: str) -> bool:
    """Whether evaluating an expression again may have an effect. Calls (except queries of the
    OpenMP library) and assignments have one.

    >>> has_side_effect("omp_get_thread_num ( ) * n"), has_side_effect("next ( )")
    (False, True)
    """
    return _CALL_OR_CHANGE.search(_ASKING.sub("1", expression)) is not None


def loop_trip_count(loop: Canonical) -> str:
    """Returns the trip count of one loop as C text. It is zero if the loop does not start.

    >>> loop_trip_count(Canonical("i", "1", "<", "n", "2", False, "int"))
    '((1)<(n)?((long long)((n)-(1))+(long long)(2)-1)/(long long)(2):0LL)'
    """
    start, bound, step = f"({loop.start})", f"({loop.bound})", f"(long long)({loop.step})"
    distance = f"{start}-{bound}" if loop.down else f"{bound}-{start}"
    if loop.comparison == "!=":
        return f"((long long)({distance})/{step})"
    begins = f"{start}{loop.comparison}{bound}"
    if loop.comparison in ("<=", ">="):
        return f"({begins}?(long long)({distance})/{step}+1:0LL)"
    if loop.step == "1":
        return f"({begins}?(long long)({distance}):0LL)"
    return f"({begins}?((long long)({distance})+{step}-1)/{step}:0LL)"


def _sum_of_inner_trips(loop: Canonical, inner: str) -> str:
    """Returns the sum of inner trip counts over the outer loop, which is executed once without its
    body to compute the sum.
    """
    name = loop.variable
    move = f"{name}{'-' if loop.down else '+'}=({loop.step})"
    kind = loop.declares or f"__typeof__({name})"
    return (
        f"(__extension__({{long long regionpredict_sum=0;{kind} {name}=({loop.start});"
        f"for(;{name}{loop.comparison}({loop.bound});{move})regionpredict_sum+={inner};"
        "regionpredict_sum;}))"
    )


def _uses_name(loop: Canonical, name: str) -> bool:
    header_text = f"{loop.start} {loop.bound} {loop.step}"
    return name in header_text.replace("(", " ").replace(")", " ").split()


def _next_header(text: str, at: int) -> Header:
    """Returns the next loop of a perfect nest: directly inside, or first inside the braces."""
    token = next_token_or_error(text, at)
    while token.text == "{":
        token = next_token_or_error(text, token.end)
    return read_header(text, token.begin)


def _range_expression(tokens: Sequence[Token]) -> list[Token]:
    """Returns the range of a C++ `for (x : range)`. Empty if evaluating it twice may have an
    effect.

    Names, members, subscripts and pointers are safe, but calls are not.
    """
    top = _outside_brackets(tokens)
    colon = next((token for token in top if token.text == ":"), None)
    if colon is None:
        return []
    over = [token for token in tokens if token.begin > colon.begin]
    called = any(
        token.text == "(" and before.text not in ("(", "*") for before, token in pairwise(over)
    )
    if called or any(t.text in _CHANGES or t.text in ("{", "?", ",") for t in over):
        return []
    return over


def _parse_increment(tokens: Sequence[Token]) -> tuple[str, list[Token], bool]:
    inner = _without_parentheses(tokens)
    spellings = _token_texts(inner)
    if len(spellings) == 2 and spellings[0] in ("++", "--"):
        return spellings[1], _unit_step(inner[1]), spellings[0] == "--"
    if len(spellings) == 2 and spellings[1] in ("++", "--"):
        return spellings[0], _unit_step(inner[0]), spellings[1] == "--"
    if len(spellings) > 2 and spellings[1] in ("+=", "-="):
        return spellings[0], *_step_magnitude(inner[2:], spellings[1] == "-=")
    if len(spellings) > 4 and spellings[1] == "=":
        right = _without_parentheses(inner[2:])
        if right[0].text == spellings[0] and right[1].text in ("+", "-"):
            return spellings[0], *_step_magnitude(right[2:], right[1].text == "-")
        if right[-1].text == spellings[0] and right[-2].text == "+":
            return spellings[0], *_step_magnitude(right[:-2], down=False)
    raise NotUnderstoodError("an increment that is not canonical")


def _step_magnitude(step: Sequence[Token], down: bool) -> tuple[list[Token], bool]:
    """Returns the step without the minus sign of a constant. For example, `i += -2` counts down by
    2.
    """
    step = _without_parentheses(step)
    if len(step) == 2 and step[0].text == "-":
        return list(step[1:]), not down
    return list(step), down


def _unit_step(token: Token) -> list[Token]:
    return [Token("1", token.begin, token.end)]


def _parse_start(tokens: Sequence[Token], variable: str) -> tuple[list[Token], list[Token]]:
    for position, token in enumerate(tokens[:-1]):
        if token.text != variable:
            continue
        start = list(tokens[position + 1 :])
        if start[0].text == "=":
            start = start[1:]
        elif start[0].text not in ("(", "{") or not position:
            break
        else:
            start = start[1:-1]
        if not start or any(t.text in (",", "?") for t in _outside_brackets(start)):
            break
        return start, list(tokens[:position])
    raise NotUnderstoodError("a loop without a start")


def _parse_condition(tokens: Sequence[Token], variable: str) -> tuple[str, list[Token]]:
    bare = _without_parentheses(tokens)
    if any(token.text in _LOOSE for token in _outside_brackets(bare)):
        raise NotUnderstoodError("a condition that is not one comparison")
    if len(bare) > 2 and bare[0].text == variable and bare[1].text in _MIRROR:
        return bare[1].text, list(bare[2:])
    if len(bare) > 2 and bare[-1].text == variable and bare[-2].text in _MIRROR:
        return _MIRROR[bare[-2].text], list(bare[:-2])
    raise NotUnderstoodError("a condition that does not compare the variable")


def _outside_brackets(tokens: Sequence[Token]) -> list[Token]:
    """Returns the tokens outside all brackets."""
    outside, depth = [], 0
    for token in tokens:
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        elif not depth:
            outside.append(token)
    return outside


def _without_parentheses(tokens: Sequence[Token]) -> Sequence[Token]:
    """Returns the tokens without enclosing parentheses."""
    while len(tokens) > 1 and tokens[0].text == "(" and tokens[-1].text == ")":
        depth = 0
        for position, token in enumerate(tokens):
            depth += (token.text == "(") - (token.text == ")")
            if not depth and position < len(tokens) - 1:
                return tokens
        tokens = tokens[1:-1]
    return tokens


def _token_texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def _joined_text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)
