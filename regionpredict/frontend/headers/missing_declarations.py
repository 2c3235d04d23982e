"""Guesses declarations of names that a missing header would have declared.

Without headers, a C parser drops every loop whose counter has an unknown type. The use of a name
shows enough to keep the loop. A name before another name is a type, a name before `[` is an array,
and a name after `->` is a member. The guesses are inserted before the file. Regions that use a
guess report it. Names of the C library, such as `int32_t` and `DBL_MAX`, are not guessed: their
header is included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from regionpredict.frontend.requests import is_regular_file
from regionpredict.ir import Span

_UNKNOWN_TYPE = re.compile(r"unknown type name '(\w+)'")
_NO_SPECIFIER = re.compile(r"type specifier missing|type name requires a specifier")
_RETURNED = re.compile(r"(\w+)[\s*]*\(\s*\*\s*(\w+)\s*\)\s*\(")  # `T (*function)(`
_UNDECLARED = re.compile(r"use of undeclared identifier '(\w+)'")
_NO_MEMBER = re.compile(r"no member named '(\w+)' in '(?:struct )?(\w+)'")
_INCOMPLETE = re.compile(r"incomplete definition of type '(?:struct )?(\w+)'")
_DECLARATION = re.compile(r"\b([A-Za-z_]\w*)\s*(\*?)\s*\b([A-Za-z_]\w*)\s*(?=[;,=)\[])")
_SUBSCRIPTED = re.compile(r"\b(\w+)\s*((?:\[[^\[\]]*\]\s*)+)")
_MEMBER_USE = re.compile(r"(?:->|\.)\s*(\w+)\s*(?=(\[|->))")
_MAX_TEXT = 4_000_000  # maximum characters of sources that are searched
_INTEGER_HINT = re.compile(r"int|index|idx|size|len|num|count|long|short|id$|bool|flag|enum", re.I)
_COMPLEX_HINT = re.compile(r"comple?x|cplx|pair", re.I)
_REAL_HINT = re.compile(r"real|float|double|scalar|number|value|data_?type|fp|num_t", re.I)


_LIBRARY = {
    "stdint.h": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t "
    "uintptr_t intmax_t uintmax_t INT8_MAX INT16_MAX INT32_MAX INT64_MAX INT32_MIN INT64_MIN "
    "UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX",
    "stdbool.h": "bool true false",
    "stddef.h": "size_t ptrdiff_t NULL",
    "stdio.h": "FILE stdin stdout stderr EOF BUFSIZ SEEK_SET SEEK_CUR SEEK_END",
    "stdlib.h": "RAND_MAX EXIT_SUCCESS EXIT_FAILURE",
    "limits.h": "CHAR_BIT SHRT_MAX USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX "
    "LLONG_MAX LLONG_MIN ULLONG_MAX PATH_MAX",
    "float.h": "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON",
    "math.h": "M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_E M_LN2 M_LN10 M_SQRT2 M_SQRT1_2 INFINITY NAN "
    "HUGE_VAL",
    "time.h": "time_t clock_t CLOCKS_PER_SEC",
    "sys/types.h": "ssize_t off_t",
    "stdarg.h": "va_list",
    "omp.h": "omp_lock_t omp_nest_lock_t",
}
HEADER_OF = {name: header for header, names in _LIBRARY.items() for name in names.split()}
"""The header of the C library or of OpenMP that declares a type, variable or macro."""
_WORD = re.compile(rb"[A-Za-z_]\w*")
_DECLARED_WORD = re.compile(
    rb"#[ \t]*define[ \t]+(\w+)|\btypedef\b[^;{}]*?\b(\w+)[ \t]*;|\}[ \t]*(\w+)[ \t]*;"
    rb"|\benum\b[^{};]*\{([^{}]*)"
)


class _NameUses(NamedTuple):
    """The declarations and uses of names in a text. It has the same members as `Guesses`."""

    declared: dict[str, set[tuple[bool, str]]]
    arrows: frozenset[str]
    dots: frozenset[str]
    calls: frozenset[str]
    ranks: dict[str, int]
    indexed_members: frozenset[str]
    pointing_members: frozenset[str]


@lru_cache(maxsize=16)  # many files include the same headers
def _uses_in(text: str) -> _NameUses:
    declared: dict[str, set[tuple[bool, str]]] = {}
    for type_name, star, variable in _DECLARATION.findall(text):
        declared.setdefault(type_name, set()).add((bool(star), variable))
    ranks: dict[str, int] = {}
    for name, subscripts in _SUBSCRIPTED.findall(text):
        ranks[name] = max(len(subscripts.split("][")), ranks.get(name, 0))
    members = _MEMBER_USE.findall(text)
    return _NameUses(
        declared,
        frozenset(re.findall(r"\b(\w+)\s*->", text)),
        frozenset(re.findall(r"\b(\w+)\s*\.\s*[A-Za-z_]", text)),
        frozenset(re.findall(r"\b(\w+)\s*\(", text)),
        ranks,
        frozenset(member for member, use in members if use == "["),
        frozenset(member for member, use in members if use != "["),
    )


def library_headers_for(texts: Iterable[bytes]) -> tuple[str, ...]:
    """Returns the headers of the C library that declare names in the texts. A name that a text
    declares itself is excluded.

    >>> library_headers_for([b"typedef int bool; int32_t a[INT_MAX]; bool b;"])
    ('limits.h', 'stdint.h')
    """
    used, declared = set[bytes](), set[bytes]()
    for text in texts:
        used.update(_WORD.findall(text))
        for words in _DECLARED_WORD.findall(text):
            declared.update(word for part in words for word in _WORD.findall(part))
    named = (word.decode() for word in used - declared)
    return tuple(sorted({HEADER_OF[name] for name in named if name in HEADER_OF}))


class Guesses:
    """The declarations guessed so far for one file. They are inserted before the file."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}
        self._characters_read = 0  # characters
        self._declared: dict[str, set[tuple[bool, str]]] = {}  # type -> (is a pointer, variable)
        self._arrows: set[str] = set()
        self._dots: set[str] = set()
        self._calls: set[str] = set()
        self._ranks: dict[str, int] = {}  # name -> its maximum number of consecutive subscripts
        self._indexed_members: set[str] = set()
        self._pointing_members: set[str] = set()
        self._types: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._members: dict[str, dict[str, str]] = {}
        self._headers: dict[str, None] = {}  # of the C library

    @property
    def names(self) -> tuple[str, ...]:
        """Every guessed name."""
        return (*self._types, *self._variables)

    def add_from_errors(self, errors: Iterable[tuple[str, Span]], *, cpp: bool) -> bool:
        """Adds guesses from a parser's errors. Returns whether guesses were added. For C++, only
        headers of the C library are added.

        Types are guessed first, since an undeclared variable is usually the consequence of an
        unknown type.
        """
        listed = list(errors)
        if self._add_headers(message for message, _ in listed):
            return True
        if cpp:
            return False
        for _, span in listed:
            if span.file not in self._lines:
                path = Path(span.file)
                readable = is_regular_file(path) and self._characters_read < _MAX_TEXT
                text = path.read_text("utf-8", "replace") if readable else ""
                self._lines[span.file] = text.split("\n")
                self._record_uses(text)
        return self._learn_types(listed) or self._learn_names(listed)

    def _add_headers(self, errors: Iterable[str]) -> bool:
        """Adds the headers of the C library that declare unknown names. Returns whether headers
        were added.
        """
        before = len(self._headers)
        for message in errors:
            match = _UNKNOWN_TYPE.search(message) or _UNDECLARED.search(message)
            if match is not None and match.group(1) in HEADER_OF:
                self._headers[HEADER_OF[match.group(1)]] = None
        return len(self._headers) > before

    def _learn_types(self, errors: list[tuple[str, Span]]) -> bool:
        before = len(self._types)
        functions = []
        for message, span in errors:
            match = _UNKNOWN_TYPE.search(message)
            if match is None and _NO_SPECIFIER.search(message):
                match = _RETURNED.match(self._source_at(span))
                functions += [match.group(2)] if match else []
            elif match is None:
                match = _UNDECLARED.search(message)
                if match is not None and not self._is_used_as_type(match.group(1), span):
                    continue
            if match is None:
                continue
            name = match.group(1)
            if name not in self._types:
                self._types[name] = self._type_text(name)
        for name in functions:  # these are declared as soon as their return type is known
            self._types.pop(name, None)
        return len(self._types) > before

    def _learn_names(self, errors: list[tuple[str, Span]]) -> bool:
        learnt = False
        for message, _span in errors:
            if match := _UNDECLARED.search(message):
                name = match.group(1)
                if name not in self._variables and name not in self._types:
                    self._variables[name] = self._variable_text(name)
                    learnt = True
            elif match := _NO_MEMBER.search(message):
                learnt = self._learn_member(match.group(2), match.group(1)) or learnt
            elif (match := _INCOMPLETE.search(message)) and match.group(1) not in self._members:
                self._members[match.group(1)] = {}
                learnt = True
        return learnt

    def _learn_member(self, struct: str, member: str) -> bool:
        known = self._members.get(struct)
        if known is None or member in known:
            return False  # structs that the file defines are not extended
        if member in self._indexed_members:
            known[member] = f"double *{member};"
        elif member in self._pointing_members:
            self._members.setdefault(f"rp_{struct}_{member}", {})
            known[member] = f"struct rp_{struct}_{member} *{member};"
        else:
            known[member] = f"long {member};"
        return True

    def _is_used_as_type(self, name: str, span: Span) -> bool:
        use = rf"{name}\s*(?:\*\s*)*\s[\s*]*[A-Za-z_]\w*\s*[;,=\[)]"
        return re.match(use, self._source_at(span)) is not None

    def _source_at(self, span: Span) -> str:
        lines = self._lines[span.file]
        line = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
        return line[span.column - 1 :] if span.column else line

    def _type_text(self, name: str) -> str:
        if self._is_pointer(name):
            self._members.setdefault(f"rp_{name}", {})
            return f"typedef struct rp_{name} *{name};"
        if _COMPLEX_HINT.search(name) and self._is_array(name):  # like the complex numbers of FFTW
            return f"typedef double {name}[2];"
        if _REAL_HINT.search(name):
            return f"typedef double {name};"
        if _INTEGER_HINT.search(name) or not self._has_members(name):
            return f"typedef long {name};"
        self._members.setdefault(f"rp_{name}", {})
        return f"typedef struct rp_{name} {name};"

    def _record_uses(self, text: str) -> None:
        """Records how names are declared and used. Each file is processed once."""
        self._characters_read += len(text)
        uses = _uses_in(text)
        for type_name, declared in uses.declared.items():
            self._declared.setdefault(type_name, set()).update(declared)
        self._arrows |= uses.arrows
        self._dots |= uses.dots
        self._calls |= uses.calls
        for name, rank in uses.ranks.items():
            self._ranks[name] = max(rank, self._ranks.get(name, 0))
        self._indexed_members |= uses.indexed_members
        self._pointing_members |= uses.pointing_members

    def _is_pointer(self, name: str) -> bool:
        """Whether the use `T x; ... x->y` shows that T is a pointer."""
        declared = self._declared.get(name, ())
        return any(not star and variable in self._arrows for star, variable in declared)

    def _is_array(self, name: str) -> bool:
        """Whether the use `T *x; ... x[i][0]` shows that T is an array."""
        declared = self._declared.get(name, ())
        return any(star and self._ranks.get(variable, 0) > 1 for star, variable in declared)

    def _has_members(self, name: str) -> bool:
        return any(
            variable in (self._arrows if star else self._dots)
            for star, variable in self._declared.get(name, ())
        )

    def _variable_text(self, name: str) -> str:
        if name in self._ranks:
            rest = "[64]" * (self._ranks[name] - 1)
            return f"extern double {name}[]{rest};"
        if name in self._arrows:
            self._members.setdefault(f"rp_{name}", {})
            return f"extern struct rp_{name} *{name};"
        if name in self._calls:
            return f"/* {name}: a function */"
        return f"extern long {name};"

    def declarations_text(self) -> str:
        """Returns the guessed declarations as C text."""
        included = [f"#include <{header}>" for header in self._headers]
        structs = [f"struct {name};" for name in self._members]
        bodies = [
            f"struct {name} {{ {' '.join(members.values()) or 'long rp_nothing;'} }};"
            for name, members in self._members.items()
        ]
        guessed = (*structs, *bodies, *self._types.values(), *self._variables.values())
        return "\n".join([*included, *guessed, ""])
