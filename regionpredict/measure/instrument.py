"""Inserts calls around every worksharing loop and `parallel` in preprocessed text.

A sample, for a combined directive. Preprocessor lines keep diagnostics and debug information on the
original lines:

    { static struct regionpredict_region regionpredict_r={"/src/f.c", ...};
      int regionpredict_size=regionpredict_known(&regionpredict_r, 4, 1);
      if (!regionpredict_size) {
    #pragma omp parallel num_threads(4)
      { ... regionpredict_size=... ; } regionpredict_keep(&regionpredict_r, 4, 1, ...); }
      long long regionpredict_trips=...;
      long long regionpredict_begin=regionpredict_enter(&regionpredict_r, ...);
    #pragma omp parallel for num_threads(4)
      for (...) ...
      regionpredict_end(&regionpredict_r, __func__, ...); }

The values of the names that the region depends on are also read before it.

The number of threads is queried in an empty parallel region with the same clauses, before the
region's first execution and whenever another number is requested. (A query inside the region
itself, by a reduction, cost 400 ns on two threads.) In a loop inside a `parallel` elsewhere, only
the first thread records. A `parallel` is measured as a whole, however its work is shared. For a
manually shared loop, each thread adds its iterations before it starts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from regionpredict.measure.entry_values import (
    NO_NAMES,
    VALUES_FILE,
    EntryValues,
    NamesAt,
    entry_values,
    names_of,
)
from regionpredict.measure.inner_loops import (
    InnerLoop,
    inner_loops,
    line_of,
    manually_shared_loops,
)
from regionpredict.measure.inner_loops import prelude as counters_prelude
from regionpredict.measure.loop_text import digest_of, source_lines
from regionpredict.measure.regions import Lines, MeasuredLoop, measured_constructs
from regionpredict.measure.trips import has_side_effect

COMBINED, NOWAIT, TEAM = 1, 2, 4
_RECORD = Path(__file__).parent / "runtime" / "record.h"
# The length of the range in `for (x : range)`, or -1 if its iterators cannot be subtracted.
_RANGES = (
    "template<class T> inline auto regionpredict_range(T &r, int)"
    "->decltype((long long)(r.end()-r.begin())){return r.end()-r.begin();} "
    "template<class T, unsigned long N> inline long long regionpredict_range(T (&)[N], int)"
    "{return N;} "
    "template<class T> inline long long regionpredict_range(T &, long){return -1;}\n"
)
_ELSEWHERE = frozenset(("target", "teams", "distribute", "loop"))
_FIRST_CODE = re.compile(r"^(?![ \t]*#|[ \t]*$)", re.M)


class Instrumented(NamedTuple):
    """A text with calls around its loops and parallel regions. It has the numbers of loops, of
    parallel regions and of recorded values.
    """

    text: str
    regions: int
    teams: int
    values: int


def instrument(
    text: str, folder: str, build: str, *, cpp: bool, ask: bool = True,
    names: NamesAt = NO_NAMES, without: Collection[int] = (),
) -> Instrumented | None:  # fmt: skip
    """Returns the text with calls around its loops and parallel regions. None if there are none to
    measure.

    `build` is the compiler's command, stored with every region. Without `ask`, the number of
    threads is the program's default instead of a query in a parallel region, for code that accepts
    no further directive. `names` are the names to record at region entries, by place. Values are
    numbered from 1 in text order, without those in `without`.
    """
    loops = measured_constructs(text, folder)
    if not loops:
        return None
    numbers = count(1)
    lines = Lines(text)
    recorded: list[_Values] = []
    counting: dict[int, InnerLoop] = {}
    shared = _shared_loops(text, loops, lines, names)
    for loop in loops:
        own_names = names_of(loop, names)
        inner = shared if loop.is_team else _inner_by_name(text, loop, lines, own_names)
        own = _select_values(entry_values(loop, own_names, inner.keys(), cpp=cpp), numbers)
        recorded.append(own)
        for number, (name, _) in own.items():
            counted = inner.get(name)
            if counted is not None and counted not in counting.values():
                counting[number] = counted
    last = next(numbers) - 1
    counting = {
        number: inner_loop for number, inner_loop in counting.items() if number not in without
    }
    counters = {number: place for place, number in enumerate(counting)}
    prelude = _prelude_text(text, lines, cpp=cpp, counters=len(counters))
    if cpp and any("regionpredict_range(" in loop.trips for loop in loops):
        prelude = prelude.replace("\n", f"\n{_RANGES}", 1)
    pieces = [_Piece(_prelude_offset(text), -1, 0, prelude)]
    for number, inner_loop in counting.items():
        pieces += _count_loop(inner_loop, counters[number])
    for loop, own in zip(loops, recorded, strict=True):
        kept = _first_of_each_name(own, without)
        before, after = _call_texts(loop, build, kept, counters, ask=ask)
        marker = f'# {loop.line} "{_c_string(loop.spelt)}"'
        pieces.append(_Piece(loop.begin, 1, loop.begin, f"{marker} 3\n{before}\n{marker}\n"))
        marker = f'# {loop.end_line} "{_c_string(loop.spelt)}"'
        pieces.append(_Piece(loop.end, 0, -loop.begin, f"\n{marker} 3\n{after}\n{marker}\n"))
    teams = sum(loop.is_team for loop in loops)
    return Instrumented(_insert_pieces(text, sorted(pieces)), len(loops) - teams, teams, last)


def _inner_by_name(
    text: str, loop: MeasuredLoop, lines: Lines, names: Sequence[str]
) -> dict[str, InnerLoop]:
    by_line = inner_loops(text, loop, lines)
    return {name: by_line[line] for name in names if (line := line_of(name) or 0) in by_line}


def _shared_loops(
    text: str, constructs: Sequence[MeasuredLoop], lines: Lines, names: NamesAt
) -> dict[str, InnerLoop]:
    """Returns the manually shared loops of this text, by the names under which their parallel
    regions record their lengths.
    """
    spelt = {construct.file: construct.spelt for construct in constructs}
    places = {name: (spelt[file], line) for name, (file, line) in names.shared.items()
              if file in spelt}  # fmt: skip
    known = manually_shared_loops(text, frozenset(places.values()), lines)
    return {name: known[place] for name, place in places.items() if place in known}


def _count_loop(loop: InnerLoop, place: int) -> list[_Piece]:
    """Makes a loop count its iterations. The rank keeps nested insertions in order."""
    if loop.trips:
        before = f"{{regionpredict_turned({place},{loop.trips});"
        return [
            _Piece(loop.begin, 2, loop.begin, before), _Piece(loop.end, -1, -loop.begin, "}"),
        ]  # fmt: skip
    name = f"regionpredict_k{place}"
    return [
        _Piece(loop.begin, 2, loop.begin, f"{{long long {name}=0;"),
        _Piece(loop.body, 3, loop.begin, f"{{{name}++;"),
        _Piece(loop.body_end, -2, -loop.begin, "}"),
        _Piece(loop.end, -1, -loop.begin, f"regionpredict_turned({place},{name});}}"),
    ]


_Values = dict[int, tuple[str, str]]
"""The name and C text of values by their number."""


def _select_values(values: EntryValues, numbers: Iterator[int]) -> _Values:
    pairs = zip(values.names, values.expressions, strict=True)
    return {next(numbers): pair for pair in pairs}


def _first_of_each_name(values: _Values, without: Collection[int]) -> _Values:
    """Returns the first value of each name that the compiler did not reject."""
    kept: dict[str, tuple[int, tuple[str, str]]] = {}
    for number, value in values.items():
        if number not in without:
            kept.setdefault(value[0], (number, value))
    return dict(kept.values())


class _Piece(NamedTuple):
    """A text to insert at an offset. At equal offsets, an inner loop ends before an outer one."""

    offset: int
    rank: int
    order: int
    text: str


def _insert_pieces(text: str, pieces: Sequence[_Piece]) -> str:
    parts, at = [], 0
    for piece in pieces:
        parts += [text[at : piece.offset], piece.text]
        at = piece.offset
    return "".join([*parts, text[at:]])


def _prelude_offset(text: str) -> int:
    match = _FIRST_CODE.search(text)
    return match.start() if match else len(text)


def _prelude_text(text: str, lines: Lines, *, cpp: bool, counters: int) -> str:
    place = lines.at(_prelude_offset(text))
    declared = _RECORD.read_text(encoding="utf-8")
    declared = re.sub(r"/\*.*?\*/", " ", declared, flags=re.DOTALL)
    declared = " ".join(declared.split())
    if cpp:
        declared = f'extern "C" {{ {declared} }}'
    if counters:
        declared += counters_prelude(counters)
    flags = " 3" if place.system else ""
    return f'# 1 "regionpredict" 3\n{declared}\n# {place.line} "{_c_string(place.file)}"{flags}\n'


def _call_texts(
    loop: MeasuredLoop, build: str, values: Mapping[int, tuple[str, str]],
    counters: Mapping[int, int], *, ask: bool,
) -> tuple[str, str]:  # fmt: skip
    """Returns the text before the directive and after the loop."""
    asked = _requested_threads(loop) if ask and loop.combined else None
    flags = COMBINED * loop.combined + NOWAIT * loop.has("nowait") + TEAM * loop.is_team
    lines = source_lines(loop.file, loop.line, loop.end_line)
    names = ",".join(_c_text(name) for name, _ in values.values())
    record = "{"
    if values:
        record += f"static const char*const regionpredict_n[]={{{names}}};"
    record += (
        f"static struct regionpredict_region regionpredict_r={{{_c_text(loop.file)},"
        f"{_c_text(loop.directive)},{_c_text(build)},{loop.line},{loop.loop_line},{loop.ordinal},"
        f"{flags},0,0,{_c_text(digest_of(lines))},{len(lines)},{len(values)},"
        f"{'regionpredict_n' if values else 0}}};"
    )
    averages = "".join(
        f"regionpredict_v[{at}]={_counted_iterations(loop, counters[number])};"
        for at, number in enumerate(values) if number in counters
    )  # fmt: skip
    done = averages + (
        "regionpredict_end(&regionpredict_r,__func__,regionpredict_trips,"
        f"regionpredict_size,regionpredict_begin,{'regionpredict_v' if values else 0});"
    )
    entry = _entry_code(loop, values)
    if loop.combined:
        before = (
            f"{record}{asked or 'int regionpredict_size=regionpredict_guess();'}"
            f"long long regionpredict_trips={loop.trips};{entry}"
            "long long regionpredict_begin="
            "regionpredict_enter(&regionpredict_r,regionpredict_trips);"
        )
        return before, done + "}"
    before = (
        f"{record}int regionpredict_size=regionpredict_recorder();"
        f"long long regionpredict_trips=regionpredict_size?{loop.trips}:-1;{entry}"
        "long long regionpredict_begin=regionpredict_size"
        "?regionpredict_enter_inside(&regionpredict_r,regionpredict_trips):0;"
    )
    return before, f"if(regionpredict_size){{{done}}}}}"


def _counted_iterations(loop: MeasuredLoop, place: int) -> str:
    """Returns a C expression for the iterations of a loop that counted them, or of a manually
    shared loop.
    """
    if loop.is_team:
        return f"regionpredict_shared({place},regionpredict_size)"
    return f"regionpredict_average({place})"


def _entry_code(loop: MeasuredLoop, values: Mapping[int, tuple[str, str]]) -> str:
    """Returns C code that reads the values. Each is on its own line, so that compiler errors
    identify it.
    """
    if not values:
        return ""
    texts = [
        f'\n# {number} "{VALUES_FILE}" 3\nregionpredict_size?{text}:0LL'
        for number, (_, text) in values.items()
    ]
    back = f'\n# {loop.line} "{_c_string(loop.spelt)}" 3\n'
    return f"long long regionpredict_v[]={{{','.join(texts)}{back}}};"


def _requested_threads(loop: MeasuredLoop) -> str | None:
    """Returns C code that queries the number of threads for the directive's clauses. None if
    impossible.
    """
    if _ELSEWHERE & set(loop.kind.split()):
        return None
    number, runs, clauses = "0", "1", ""
    for clause in loop.clauses:
        text = clause.text or ""
        if clause.name == "if":
            modifier, colon, argument = text.partition(":")
            if colon and modifier.strip() in ("parallel", "simd"):
                if modifier.strip() == "simd":
                    continue
                text = argument
            runs = f"(({text})?1:0)"
        elif clause.name == "num_threads":
            number = f"(long long)({text})"
        else:
            continue
        if has_side_effect(text):
            return None
        clauses += f" {clause.name}({text})"
    key = f"&regionpredict_r,{number},{runs}"
    return (
        f"int regionpredict_size=regionpredict_known({key});if(!regionpredict_size){{\n"
        f"#pragma omp parallel{clauses}\n"
        "{int regionpredict_own=regionpredict_recorder();"
        "if(regionpredict_own)regionpredict_size=regionpredict_own;}"
        f"regionpredict_keep({key},regionpredict_size);}}"
    )


def _c_text(text: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    shown = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in data
    )
    return f'"{shown}"'


def _c_string(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
