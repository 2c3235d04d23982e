"""Finds directives that a false `#if` disables, and the macros that would enable them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from regionpredict.frontend.syntax import Pragma
from regionpredict.frontend.text.macros import MacroTable
from regionpredict.frontend.text.pragmas import find_pragmas
from regionpredict.frontend.text.source_text import SourceText, masked
from regionpredict.ir import Diagnostic, Span

_CONDITIONAL = re.compile(
    rb"^[ \t\v]*(?:#|%:|\?\?=)[ \t\v]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)
_DEFINED = re.compile(r"(!\s*)?defined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))")
_DEFINE = rb"^[ \t\v]*#[ \t\v]*define[ \t]+%s\b"
_NAME = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]", re.MULTILINE)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_FALSE = re.compile(r"\(*\s*0\s*\)*")


class _Branch(NamedTuple):
    """The text between two lines of one conditional.

    `word` and `condition` come from the line before the text. If `word` is `else`, `before` is the
    previous branch.
    """

    word: str
    condition: str
    before: _Branch | None
    begin: int
    end: int

    def enabling_changes(self, defined: _Defined) -> str | None:
        """Returns the changes that enable the text. None if no change enables it."""
        if self.before is not None and self.word == "else":
            return _definitions_for(self.before.word, self.before.condition, False, defined)
        return _definitions_for(self.word, self.condition, True, defined)


class _Definition(NamedTuple):
    """A macro that the file defines, with its line. `default` says that the file defines it only if
    it is undefined.
    """

    line: int
    default: bool


_Defined = Callable[[str], "_Definition | None"]


def _definitions_for(
    word: str, condition: str, expected_truth: bool, defined: _Defined
) -> str | None:
    """Returns the definitions that make `#WORD CONDITION` true, or false if `expected_truth` is
    False.
    """
    if word in ("ifdef", "ifndef"):
        name = _NAME.match(condition)
        with_it = expected_truth == (word == "ifdef")
        if name is None:
            return None
        return f"add -D {name.group()}" if with_it else _how_to_undefine(name.group(), defined)
    if (_FALSE.fullmatch(condition) and expected_truth) or not _NAME.search(condition):
        return None
    single_test = _DEFINED.fullmatch(condition)
    if single_test is not None:
        name_of = single_test.group(2) or single_test.group(3)
        with_it = expected_truth != bool(single_test.group(1))
        return f"add -D {name_of}" if with_it else _how_to_undefine(name_of, defined)
    if expected_truth and _NAME.fullmatch(condition):
        definition = defined(condition)
        if definition is not None and not definition.default:
            return f"change the value of {condition} in line {definition.line}"
        return f"add -D {condition}"
    return f"make '{condition}' " + ("true with -D" if expected_truth else "false")


def _how_to_undefine(name: str, defined: _Defined) -> str:
    """Returns how to undefine a macro. `-D` cannot remove a definition in the file."""
    definition = defined(name)
    if definition is not None:
        return f"take '#define {name}' out of line {definition.line}"
    return f"do without the macro {name}"


def inactive_loops(
    source: SourceText, macros: MacroTable, active: Iterable[Pragma],
    reads: Callable[[int, int], bool],
) -> list[Diagnostic]:  # fmt: skip
    """Returns the RP006 diagnostics for the loop directives of a file that are not among the
    `active` ones.

    `reads` says whether the compiler reads the text between two offsets. It does not read the
    innermost branch around an inactive directive. Text under `#if 0` is not reported.
    """
    if not _CONDITIONAL.search(source.data):
        return []
    text = masked(source.data)
    known = {pragma.offset for pragma in active}
    left = [pragma for pragma in find_pragmas(source, macros, text)
            if pragma.is_loop and not pragma.macro and pragma.offset not in known]  # fmt: skip
    if not left:
        return []
    branches = _branches(text.code)
    notes = []
    for pragma in left:
        around = [branch for branch in branches if branch.begin <= pragma.offset < branch.end]
        inactive = [pragma for pragma in around if not reads(pragma.begin, pragma.end)]
        disabling = (inactive or around[-1:])[0] if around else None
        enabling_changes = (
            disabling.enabling_changes(_definition_lookup(disabling, text.code, branches, reads))
            if disabling
            else None
        )
        if enabling_changes is not None:
            message = (
                f"an OpenMP loop that the preprocessor leaves out: to read it, {enabling_changes}"
            )
            span = Span(source.path, pragma.line, pragma.column)
            notes.append(Diagnostic("RP006", span, message))
    return notes


def conditions_of_directives(
    text: bytes, with_directives: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """Returns for each OpenMP directive the macros that must be defined, according to the
    conditional around the directive.

    The macros are empty for a directive outside of conditionals, or in a conditional of another
    form. `with_directives` are paths of headers. An `#include` of one of them counts as a
    directive.
    """
    offsets = [found.start() for found in _DIRECTIVE.finditer(text)] if b"omp" in text else []
    if with_directives:
        offsets += [
            include.start() for include in _INCLUDE.finditer(text)
            if _may_be_header(include.group(1).decode("utf-8", "replace"), with_directives)
        ]  # fmt: skip
    branches = _branches(text) if offsets else []
    conditions = []
    for place in offsets:
        around = [branch for branch in branches if branch.begin <= place < branch.end]
        conditions.append(_required_macros(around[-1]) if around else ())
    return conditions


def has_directive(text: bytes) -> bool:
    """Whether a text contains an OpenMP directive, possibly in a comment."""
    return b"omp" in text and _DIRECTIVE.search(text) is not None


def _may_be_header(include: str, headers: Collection[str]) -> bool:
    """Whether an included name may be one of these headers. Only the end of the path is
    compared.
    """
    ending = "/" + include.removeprefix("./")
    return any(header.endswith(ending) for header in headers)


def _required_macros(branch: _Branch) -> tuple[str, ...]:
    """Returns the macros whose definition makes the line before a branch true."""
    wanted, word, condition = True, branch.word, branch.condition
    if word == "else" and branch.before is not None:
        wanted, word, condition = False, branch.before.word, branch.before.condition
    if word in ("ifdef", "ifndef"):
        return tuple(_NAME.findall(condition)[:1]) if wanted == (word == "ifdef") else ()
    parts = [part.strip() for part in condition.split("&&")] if wanted else [condition]
    macros = []
    for part in parts:
        tested = _DEFINED.fullmatch(part)
        if tested is not None and wanted != bool(tested.group(1)):
            macros.append(tested.group(2) or tested.group(3))
        elif wanted and _NAME.fullmatch(part):
            macros.append(part)
    return tuple(macros)


def _branches(code: bytes) -> list[_Branch]:
    """Returns the branches of a text, outer branches first. Empty if conditionals do not match."""
    branches: list[_Branch] = []
    opened: list[list[_Branch]] = []
    for line in _CONDITIONAL.finditer(code):
        word = line.group(1).decode()
        condition = " ".join(line.group(2).decode("utf-8", "replace").replace("\\", " ").split())
        before = None
        if not word.startswith("if"):
            if not opened:
                return []
            ended = opened[-1][-1]._replace(end=line.start())
            opened[-1][-1] = ended
            before = ended
            if word == "endif":
                branches += opened.pop()
                continue
        else:
            opened.append([])
        opened[-1].append(_Branch(word, condition, before, line.end(), line.end()))
    return sorted(branches, key=lambda branch: (branch.begin, -branch.end))


def _definition_lookup(
    branch: _Branch, code: bytes, branches: list[_Branch], reads: Callable[[int, int], bool]
) -> _Defined:
    """Returns a function that finds the macros that the file defines before a branch."""
    return lambda name: _definition(name, branch, code, branches, reads)


def _definition(
    name: str, branch: _Branch, code: bytes, branches: list[_Branch],
    reads: Callable[[int, int], bool],
) -> _Definition | None:  # fmt: skip
    """Returns the last active definition of a macro before a branch."""
    definition = None
    form = re.compile(_DEFINE % name.encode(), re.MULTILINE)
    for match in form.finditer(code, 0, branch.begin):
        around = [other for other in branches if other.begin <= match.start() < other.end]
        never = any(other.word == "if" and _FALSE.fullmatch(other.condition) for other in around)
        if not never and all(reads(other.begin, other.end) for other in around):
            default = any(_needs_undefined(other, name) for other in around)
            definition = _Definition(code.count(b"\n", 0, match.start()) + 1, default)
    return definition


def _needs_undefined(branch: _Branch, name: str) -> bool:
    """Whether a branch is active only if a macro is undefined: `#ifndef NAME`."""
    if branch.word == "ifndef":
        return branch.condition == name
    tested_macro = _DEFINED.fullmatch(branch.condition) if branch.word == "if" else None
    return (
        tested_macro is not None
        and bool(tested_macro.group(1))
        and name in (tested_macro.group(2), tested_macro.group(3))
    )
