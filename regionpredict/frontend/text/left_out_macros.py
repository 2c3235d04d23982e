"""Finds macros for constants whose definitions are all disabled by a false `#if`.

If the header that the build generates is missing, no branch of the following text is active:

#if defined(SINGLE)
#  define REAL(x) x##f
#elif defined(DOUBLE)
#  define REAL(x) x            REAL(0.5)  ->  0.5
#endif

Such a macro returns its argument in every branch, possibly with a suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\([^)\n]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_MARKED = re.compile(r"\(*\s*(\w+)\s*(?:##\s*[fFlLuU]{1,3}\s*)?\)*")
# The text declares a function with this name, or tests whether the macro is defined.
_OTHERWISE = r"\b(?!return\b|else\b|case\b)\w+[ \t]+{0}\s*\(|\b(?:ifn?def|defined)\b[\s(]*{0}\b"


def note_on_guesses(macros: Iterable[tuple[str, str]]) -> str:
    """Returns the note on assumed definitions of macros."""
    shown = [f"{name} {body}" for name, body in macros]
    more = ", ..." if len(shown) > 5 else ""
    return (
        "macros without an active definition, assumed to return their argument: "
        f"{', '.join(shown[:5])}{more}"
    )


def left_out_macros(files: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Returns definitions for macros that are used but not defined, by name: `(("REAL(x)", "x"),)`.

    `files` gives the text of each file without comments, and the same text with blanked inactive
    parts. A macro qualifies if all its definitions return the argument. The definition without a
    suffix is used, or the first one if all have a suffix.
    """
    left: dict[str, list[tuple[str, str]]] = {}
    others: set[str] = set()
    rest: list[str] = []
    for whole, read in files:
        others.update(match.group(1).decode() for match in _DEFINE.finditer(read))
        for match in _DEFINE.finditer(whole):
            name = match.group(1).decode()
            parameter = (match.group(2) or b"")[1:-1].decode("utf-8", "replace").strip()
            body = match.group(3).decode("utf-8", "replace").strip()
            marked = _MARKED.fullmatch(body)
            if marked is not None and parameter == marked.group(1):
                left.setdefault(name, []).append((parameter, body))
            else:
                others.add(name)
        rest.append(_DEFINE.sub(rb" \3", whole).decode("utf-8", "replace"))  # used in macros too
    definitions = []
    for name in sorted(left.keys() - others):
        used = any(re.search(rf"\b{name}\s*\(", text) for text in rest)
        if not used or any(re.search(_OTHERWISE.format(name), text) for text in rest):
            continue
        plain = [pair for pair in left[name] if "#" not in pair[1]]
        parameter, body = (plain or left[name])[0]
        definitions.append((f"{name}({parameter})", body))
    return tuple(definitions)
