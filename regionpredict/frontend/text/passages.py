"""Splits a source text into passages (functions, initialized objects and macros), with the words in
each passage.

This finds possible calls between functions from names alone. A word in a passage may be a call of
every function with this name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.frontend.text.source_text import masked

# Each pattern begins with a part that is fast to find.
_DIRECTIVES = (
    re.compile(rb"pragma(?:[ \t\v]|\\\r?\n)+omp\b"),
    re.compile(rb"_Pragma\s*\(\s*[^\"\s)]"),
    re.compile(rb"\[\[\s*(?:using\s+)?omp\b"),
)
_QUOTED = re.compile(rb'_Pragma\s*\(\s*L?"\s*omp\b')
_LINE = re.compile(rb"^[ \t\v]*(?:#|%:|\?\?=)(?:\\\r?\n|[^\n])*", re.MULTILINE)
_DEFINE = re.compile(rb"[ \t\v]*(?:#|%:|\?\?=)[ \t\v]*define[ \t\v]+([A-Za-z_]\w*)")
_CONDITIONAL = re.compile(rb"[ \t\v]*#[ \t\v]*(if|else|elif|endif)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_EDGE = re.compile(rb"[{};]")
_ARGUMENTS = re.compile(rb"\([^()]*\)")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\b\s*\x00")
_OBJECT = re.compile(rb"\b([A-Za-z_]\w*)\b\s*(?:\[[^\]]*\]\s*)*=")
_POINTER = re.compile(rb"\(\s*\*+\s*([A-Za-z_]\w*)")
_AT_MARGIN = re.compile(rb"^(?:[A-Za-z_][^;{}()=\n]*?\b)?([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_SCOPE = re.compile(rb"\b(?:namespace|class|struct|union|enum|extern)\b")
_PASTE = re.compile(rb"##")
_MACRO_CALL = re.compile(rb"\b([A-Za-z_]\w*)\s*\(([\w\s,]*)\)\s*(?=[(;A-Za-z_])")
_FUNCTION = re.compile(rb"\x00(?:\b(?:const|volatile|noexcept|override|final)\b|[&\s])*$")
_OPERATOR = b"operator"


class Passage(NamedTuple):
    """A passage of text: a `macro`, a function or an object. `names` are the names that it defines,
    and `used_names` are all names in it.

    `directed` says that the passage may contain an OpenMP directive. `stems` are macros that may
    paste the defined names together, each with one of its words, as in `JOIN(scale_, T)(int n) {`.
    """

    macro: bool
    names: frozenset[bytes]
    used_names: frozenset[bytes]
    directed: bool
    stems: frozenset[tuple[bytes, bytes]] = frozenset()


def holds_directives(data: bytes) -> bool:
    """Whether a text may contain an OpenMP directive, or a macro that expands to one."""
    return any(form.search(data) for form in (*_DIRECTIVES, _QUOTED))


def passages(data: bytes) -> list[Passage]:
    """Returns the passages of a text, or a single passage if the braces do not match.

    Words in comments and strings are ignored. C++ operators are called without their names, so
    every passage may call every `operator`.

    >>> text = b"#define RUN f(1)\\nint g(int n) { return f(n); }\\nint (*table[])(int) = { g };"
    >>> [(p.macro, *sorted(p.names), *sorted(p.used_names & {b"f", b"g"})) for p in passages(text)]
    [(True, b'RUN', b'f'), (False, b'g', b'f', b'g'), (False, b'table', b'g')]
    """
    # Strings are blanked, so a directive in a string is unwrapped first.
    bare = masked(_QUOTED.sub(b"pragma omp ", data)).bare
    macros: list[Passage] = []
    branches, otherwise = [b""], [False]
    at = 0
    for line in _LINE.finditer(bare):
        text = line.group()
        branches[-1] += bare[at : line.start()]
        at = line.end()
        define = _DEFINE.match(text)
        if define is not None:
            used_names = frozenset((*_WORD.findall(text, define.end()), *_PASTE.findall(text)))
            directed = holds_directives(text)
            macros.append(Passage(True, frozenset((define.group(1),)), used_names, directed))
        elif holds_directives(text):
            branches[-1] += text + b"\n"
        elif conditional := _CONDITIONAL.match(text):
            branches.append(b"")
            otherwise.append(conditional.group(1)[:2] == b"el")
    branches[-1] += bare[at:]
    for number, text in enumerate(branches):
        # An `#else` may contain another header of the same function, whose brace was already found.
        if otherwise[number] and text.count(b"{") != text.count(b"}"):
            branches[number] = text.translate(None, b"{}")
    text = b"\n".join(branches)
    may_direct = holds_directives(text)
    all_passages = _functions_and_objects(text, may_direct=may_direct)
    if all_passages is None:
        names = frozenset(_AT_MARGIN.findall(text))
        all_passages = [_new_passage(names, text, may_direct=may_direct)]
    return macros + all_passages


def _functions_and_objects(text: bytes, *, may_direct: bool) -> list[Passage] | None:
    """Returns the passages of a text whose only preprocessor lines are directives. None if the
    braces do not match.
    """
    passages: list[Passage] = []
    names, stems = frozenset[bytes](), frozenset[tuple[bytes, bytes]]()
    depth = scopes = 0  # open braces in the passage; enclosing namespaces, classes and structs
    start = begin = since = 0  # start of the passage; after the last boundary; after the last brace
    for boundary in _EDGE.finditer(text):
        char, at = boundary.group(), boundary.end()
        if depth:
            depth += (char == b"{") - (char == b"}")
            if not depth:
                passage = _new_passage(names, text[start:at], may_direct=may_direct)
                passages.append(passage._replace(stems=stems))
                begin = since = at
        elif char == b"{":
            header = _without_parentheses(text[begin : at - 1])
            if _is_scope(header):
                scopes += 1
                begin = since = at
            else:
                # Old-style C functions have declarations between their name and their body.
                stems = _pasting_macros(text[begin : at - 1])
                pointers = _function_pointers(text[begin : at - 1], header)
                names = (
                    pointers
                    or _defined_names(header)
                    or _defined_names(_without_parentheses(text[since : at - 1]))
                    or names
                )
                start, depth = begin, 1
        elif char == b"}":
            scopes -= 1
            begin = since = at
        else:
            if text.find(b"=", begin, at) >= 0:
                header = _without_parentheses(text[begin:at])
                own = _function_pointers(text[begin:at], header) or _defined_names(header)
                passages.append(_new_passage(own, text[begin:at], may_direct=may_direct))
            begin = at
        if scopes < 0:
            return None
    if stems := _pasting_macros(text[begin:] + b";"):
        passage = _new_passage(frozenset(), text[begin:], may_direct=may_direct)
        passages.append(passage._replace(stems=stems))
    return None if depth or scopes else passages


def _new_passage(names: frozenset[bytes], text: bytes, *, may_direct: bool) -> Passage:
    used_names = frozenset((*_WORD.findall(text), _OPERATOR))
    return Passage(False, names, used_names, may_direct and holds_directives(text))


def _without_parentheses(header: bytes) -> bytes:
    """Returns the text before a brace, with each pair of parentheses replaced by a NUL."""
    before = b""
    while before != header:
        before, header = header, _ARGUMENTS.sub(b"\0", header)
    return header


def _is_scope(header: bytes) -> bool:
    """Whether a brace starts a scope with definitions: `class X : Y {`, but not `struct X *f() {`
    or an initializer.
    """
    if not _SCOPE.search(header) or header.rstrip().endswith(b"="):
        return False
    return _FUNCTION.search(header) is None


def _function_pointers(text: bytes, header: bytes) -> frozenset[bytes]:
    """Returns the names of initialized function pointers: `int (*table[])(int) = ...`."""
    return frozenset(_POINTER.findall(text)) if b"=" in header else frozenset()


def _pasting_macros(header: bytes) -> frozenset[tuple[bytes, bytes]]:
    """Returns the macros that may paste names together before a brace, each with a word to
    paste.
    """
    return frozenset(
        (call.group(1), word)
        for call in _MACRO_CALL.finditer(header) for word in _WORD.findall(call.group(2))
    )  # fmt: skip


def _defined_names(header: bytes) -> frozenset[bytes]:
    if _OPERATOR in header:
        return frozenset((_OPERATOR,))
    return frozenset((*_CALLED.findall(header), *_OBJECT.findall(header)))
