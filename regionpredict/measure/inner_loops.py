"""Loops inside a measured region with unknown iterations, which count themselves.

A counter is incremented in each iteration and added to the file's totals at the end of the loop:

    {long long regionpredict_k3=0; while (p) {regionpredict_k3++; p = p->next; }
     regionpredict_turned(3,regionpredict_k3);}

The region contains only function calls, so no clause needs another variable. If a loop is left by
`return` or `goto`, this execution is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from regionpredict.measure.ctext import (
    NotUnderstoodError,
    Token,
    after_parentheses,
    next_token,
    next_token_or_error,
    statement_end,
)
from regionpredict.measure.regions import Lines, MeasuredLoop
from regionpredict.measure.trips import UNKNOWN, has_side_effect, trip_count

_PLACE = re.compile(r".*:(\d+)")
_FOR = re.compile(r"\bfor\b")
_MARKER = re.compile(r"^[ \t]*#(?![ \t]*pragma)[^\n]*$", re.M)
NO_VALUE = "(-9223372036854775807LL-1)"


class InnerLoop(NamedTuple):
    """The offsets of an inner loop in the text: of the loop, of its body, and after both.

    `trips` is a C expression of its iterations if its header determines them, as in manually shared
    loops. It is empty if the loop counts its iterations.
    """

    begin: int
    body: int
    body_end: int
    end: int
    trips: str = ""


HandShared = dict[tuple[str, int], InnerLoop]
"""Manually shared loops, by file (as spelled) and line."""


def line_of(name: str) -> int | None:
    """Returns the line in a loop's name, such as 12 for `f.c:12`. None for any other name."""
    match = _PLACE.fullmatch(name)
    return int(match.group(1)) if match else None


def inner_loops(text: str, loop: MeasuredLoop, lines: Lines) -> dict[int, InnerLoop]:
    """Returns the loops inside a measured loop that can count their iterations, by line. A line
    with several loops is left out.
    """
    loops: dict[int, InnerLoop | None] = {}
    try:
        first = next_token_or_error(text, text.index("\n", loop.begin))
        for at, inner in _loops_between(text, first.end, loop.end):
            place = lines.at(at)
            if place.file == loop.spelt:
                loops[place.line] = None if place.line in loops else inner
    except NotUnderstoodError:
        return {}
    return {line: inner for line, inner in loops.items() if inner is not None}


def manually_shared_loops(
    text: str, places: Collection[tuple[str, int]], lines: Lines
) -> HandShared:
    """Returns the manually shared loops at these lines whose header gives the iterations of a
    thread.

    A place is a file (as spelled) and a line. A line with several loops is left out.
    """
    loops: dict[tuple[str, int], InnerLoop | None] = {}
    for match in _FOR.finditer(text) if places else ():
        marker = lines.at(match.start())
        place = (marker.file, marker.line)
        if place in places:
            loops[place] = None if place in loops else _with_header_trips(text, match.start())
    return {place: loop for place, loop in loops.items() if loop is not None}


def _with_header_trips(text: str, at: int) -> InnerLoop | None:
    try:
        trips, _ = trip_count(text, at, 1)
        loop = _parse_loop(text, next_token_or_error(text, at))
    except NotUnderstoodError:
        return None
    if trips == UNKNOWN or has_side_effect(trips) or _follows_pragma(text, at):
        return None
    return loop._replace(trips=trips)


def _loops_between(text: str, at: int, end: int) -> Iterator[tuple[int, InnerLoop | None]]:
    """Returns every loop between two offsets, including nested ones. None instead of a loop that
    cannot count its iterations.
    """
    while (token := next_token(text, at)) is not None and token.begin < end:
        at = token.end
        if token.text not in ("for", "while", "do"):
            continue
        inner = _parse_loop(text, token)
        yield token.begin, None if _follows_pragma(text, token.begin) else inner
        if token.text == "do":  # the `while` of a `do` loop is not a separate loop
            yield from _loops_between(text, inner.body, inner.body_end)
            at = inner.end


def _parse_loop(text: str, word: Token) -> InnerLoop:
    end = statement_end(text, word.begin)
    if word.text == "do":
        body = next_token_or_error(text, word.end).begin
        return InnerLoop(word.begin, body, statement_end(text, body), end)
    body = next_token_or_error(text, after_parentheses(text, word.end)).begin
    return InnerLoop(word.begin, body, end, end)


def _follows_pragma(text: str, at: int) -> bool:
    """Whether a directive directly precedes the loop, so that no code may be inserted between
    them.
    """
    before = _MARKER.sub("", text[max(0, at - 2000) : at]).rstrip()
    return before.rpartition("\n")[2].lstrip().startswith("#")


def prelude(loops: int) -> str:
    """Returns the C declarations for this many loops, on one line.

    0 is the relaxed order, whose macro is not available in preprocessed text.
    """
    return (
        f"static long long regionpredict_turns[{loops}][2];"
        "static void regionpredict_turned(int k,long long n){"
        "__atomic_fetch_add(&regionpredict_turns[k][0],n,0);"
        "__atomic_fetch_add(&regionpredict_turns[k][1],1,0);}"
        "static long long regionpredict_average(int k){"
        "long long n=__atomic_exchange_n(&regionpredict_turns[k][0],0,0),"
        "t=__atomic_exchange_n(&regionpredict_turns[k][1],0,0);"
        f"return t?(n+t/2)/t:{NO_VALUE};}}"
        # All threads executed the loop equally often, so the sum gives their iterations.
        "static long long regionpredict_shared(int k,int p){"
        "long long n=__atomic_exchange_n(&regionpredict_turns[k][0],0,0),"
        "t=__atomic_exchange_n(&regionpredict_turns[k][1],0,0);"
        f"return t?(n*p+t/2)/t:{NO_VALUE};}}"
    )
