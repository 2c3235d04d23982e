"""Finds macros that contain a `_Pragma`, and expands macros in directives.

Object-like and function-like macros, arguments, `#`, `##` and nested macros are supported. In code
outside directives, the parser expands the macros.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\([^)\n]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_WORD = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|##|#|\s+|[0-9.]\w*|.', re.DOTALL)
_MAX_DEPTH = 12


class Macro(NamedTuple):
    """A macro's parameters (None for an object-like macro) and its replacement text."""

    name: str
    parameters: tuple[str, ...] | None
    body: str


class MacroTable:
    """The macros of some source texts. The last definition of a name is used."""

    def __init__(self) -> None:
        self._macros: dict[str, Macro] = {}
        self._pragma: frozenset[str] | None = None

    def add_text(self, data: bytes) -> None:
        """Adds every `#define` of a file whose comments are blanked."""
        for match in _DEFINE.finditer(data):
            name = match.group(1).decode()
            parameters = None
            if match.group(2):
                inner = match.group(2)[1:-1].decode("utf-8", "replace")
                parameters = tuple(p.strip() for p in inner.split(",") if p.strip())
            body = re.sub(rb"\\[ \t]*\r?\n", b" ", match.group(3)).decode("utf-8", "replace")
            self._macros[name] = Macro(name, parameters, body.strip())
        self._pragma = None

    def add(self, name: str, value: str) -> None:
        """Adds the macro of an option `-D NAME=VALUE`."""
        self._macros[name] = Macro(name, None, value)
        self._pragma = None

    def get(self, name: str) -> Macro | None:
        """Returns the macro with this name, or None."""
        return self._macros.get(name)

    @property
    def constants(self) -> frozenset[str]:
        """The object-like macros whose replacement begins with a digit."""
        return frozenset(
            m.name for m in self._macros.values() if m.parameters is None and m.body[:1].isdigit()
        )

    @property
    def pragma_macros(self) -> frozenset[str]:
        """The macros whose expansion contains an OpenMP `_Pragma`, directly or in a nested
        macro.
        """
        if self._pragma is None:
            holders = {m.name for m in self._macros.values() if "_Pragma" in m.body}
            while True:
                used_names = (
                    {
                        name: set(re.findall(r"[A-Za-z_]\w*", m.body))
                        for name, m in self._macros.items()
                        if name not in holders
                    }
                    if holders
                    else {}
                )
                more = {name for name, used in used_names.items() if used & holders}
                if not more:
                    break
                holders |= more
            self._pragma = frozenset(holders)
        return self._pragma

    def is_used_in(self, data: bytes) -> bool:
        """Whether the text uses one of the pragma macros."""
        return any(name.encode() in data for name in self.pragma_macros)

    def expand(self, text: str, depth: int = 0) -> str:
        """Expands all known macros in a text.

        >>> table = MacroTable()
        >>> table.add_text(b"#define SCHED(c) schedule(static, c)")
        >>> table.expand("parallel for SCHED(4)")
        'parallel for schedule(static, 4)'
        """
        if depth > _MAX_DEPTH:
            return text
        expanded: list[str] = []
        at = 0
        while at < len(text):
            match = _WORD.match(text, at)
            assert match is not None  # the last alternative matches any character
            word, at = match.group(), match.end()
            macro = self._macros.get(word)
            if macro is None:
                expanded.append(word)
            elif macro.parameters is None:
                expanded.append(word if macro.body == word else self.expand(macro.body, depth + 1))
            else:
                end, arguments = self.read_arguments(text, at)
                if end == at:
                    expanded.append(word)
                else:
                    expanded.append(self.expand_call(word, arguments, depth + 1))
                    at = end
        return "".join(expanded)

    def expand_call(self, name: str, arguments: list[str], depth: int = 0) -> str:
        """Returns the expansion of one macro with its arguments."""
        macro = self._macros[name]
        if macro.parameters is None:
            return self.expand(macro.body, depth + 1)
        bound_arguments = _match_arguments(macro.parameters, arguments)
        expanded: list[str] = []
        tokens = _WORD.findall(macro.body)
        at = 0
        while at < len(tokens):
            word = tokens[at]
            following = next(
                (i for i in range(at + 1, len(tokens)) if tokens[i].strip()), len(tokens)
            )
            if word == "#" and following < len(tokens) and tokens[following] in bound_arguments:
                quoted = " ".join(bound_arguments[tokens[following]].split())
                expanded.append('"' + quoted.replace("\\", "\\\\").replace('"', '\\"') + '"')
                at = following
            elif word == "##":
                while expanded and not expanded[-1].strip():
                    expanded.pop()
                at = following - 1
            elif word in bound_arguments:
                pasted = following < len(tokens) and tokens[following] == "##"
                expanded.append(
                    bound_arguments[word]
                    if pasted
                    else self.expand(bound_arguments[word], depth + 1)
                )
            else:
                expanded.append(word)
            at += 1
        return self.expand("".join(expanded), depth + 1)

    @staticmethod
    def read_arguments(text: str, at: int) -> tuple[int, list[str]]:
        """Returns the offset after the `)` of a macro call, and its arguments."""
        start = at
        while at < len(text) and text[at] in " \t\r\n\\":
            at += 1
        if at >= len(text) or text[at] != "(":
            return start, []
        depth, begin, arguments = 0, at + 1, []
        while at < len(text):
            char = text[at]
            if char == '"':
                closing = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL).match(text, at)
                at = closing.end() if closing else len(text)
                continue
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth -= 1
                if not depth:
                    arguments.append(text[begin:at].strip())
                    return at + 1, arguments
            elif char == "," and depth == 1:
                arguments.append(text[begin:at].strip())
                begin = at + 1
            at += 1
        return start, []


def _match_arguments(parameters: tuple[str, ...], arguments: list[str]) -> dict[str, str]:
    bound_arguments: dict[str, str] = {}
    for position, parameter in enumerate(parameters):
        if parameter.endswith("..."):
            name = parameter[:-3] or "__VA_ARGS__"
            bound_arguments[name] = ", ".join(arguments[position:])
        else:
            bound_arguments[parameter] = arguments[position] if position < len(arguments) else ""
    return bound_arguments
