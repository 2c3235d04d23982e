"""Finds the macros that a Makefile passes to the compiler if `make` is called without arguments.

    SIZE  ?= 1000
    FLAGS  = -O2 -DN=$(SIZE)
    ifeq ($(MPI), yes)
    FLAGS += -DUSE_MPI
    endif
    %.o: %.c
        $(CC) $(FLAGS) -c $<                N=1000

Variables, conditionals and included files are evaluated, and no command is executed. The results of
make's functions are unknown. Conditionals and macros that depend on them are ignored.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from regionpredict.frontend.requests import SOURCES

_ASSIGNMENT = re.compile(
    r"(?:(?:export|override|private)\s+)*([^\s:#=+?!]+)\s*(:{0,3}=|\?=|\+=|!=)\s*(.*)", re.DOTALL
)
_COMMENT = re.compile(r"(?<!\\)#.*", re.DOTALL)
_EQUAL = re.compile(r"""\((.*),(.*)\)|"(.*)"\s*"(.*)"|'(.*)'\s*'(.*)'""", re.DOTALL)
_CONDITIONALS = ("ifeq", "ifneq", "ifdef", "ifndef")
_INCLUDES = ("include", "-include", "sinclude")
_IMPLICIT = ("CPPFLAGS", "CFLAGS", "CXXFLAGS")
_PREDEFINED = {"CC": "cc", "CXX": "c++", "MAKE": "make", "SHELL": "/bin/sh"}
_LINUX = ("uname", "uname -s")
_UNKNOWN = "\0"
_OPEN, _CLOSE = "\1", "\2"  # markers around the value of a variable
_VALUE = re.compile(f"{_OPEN}[^{_OPEN}{_CLOSE}]*{_CLOSE}")
_LONGEST = 10_000  # maximum characters of a value, since `A := $(A)$(A)` doubles it
_MOST_REFERENCES = 20_000  # maximum number of replaced references per Makefile
_MOST_FILES = 20  # maximum number of files that one Makefile includes
_DEEPEST = 50  # maximum depth of nested references


class Macro(NamedTuple):
    """A macro of a build. `alternatives` is a pattern of the names that other settings would
    define, such as `\\w+_DATASET` for `-D$(SIZE)_DATASET`.
    """

    name: str
    value: str
    alternatives: str


def makefile_macros(
    path: str, text_of: Callable[[str], str]
) -> tuple[Mapping[str, Macro], tuple[str, ...]]:
    """Returns the macros that most of the compile commands define, by name, and the files read."""
    followed = _Makefile(text_of)
    followed.evaluate_file(path)
    commands = list(followed.compile_commands())
    votes = Counter(macro for command in commands for macro in _macros_in(command).values())
    chosen = {macro.name: macro for macro, count in votes.items() if 2 * count > len(commands)}
    return chosen, tuple(followed.files)


class _Makefile:
    """The variables and recipes so far. `_branches` has one entry per enclosing conditional:
    whether its lines are active, and whether no later branch can be active.
    """

    def __init__(self, text_of: Callable[[str], str]) -> None:
        self.files: list[str] = []
        self._text_of = text_of
        self._variables = dict(_PREDEFINED)
        self._recipes: list[str] = []
        self._branches: list[tuple[bool, bool]] = []
        self._references = 0
        self._in_rule = self._in_definition = False

    def evaluate_file(self, path: str) -> None:
        """Evaluates one file and the files that it includes."""
        if path in self.files or len(self.files) >= _MOST_FILES:
            return
        self.files.append(path)
        for line in _logical_lines(self._text_of(path)):
            if self._in_definition:
                self._in_definition = line.split()[:1] != ["endef"]
            elif self._in_rule and line.startswith("\t"):
                if self._is_active():
                    self._recipes.append(line.strip())
            else:
                self._evaluate_line(_COMMENT.sub("", line).strip(), Path(path).parent)

    def compile_commands(self) -> Iterator[str]:
        """Yields the compile commands, or make's built-in rule with the usual flags."""
        commands = [self._expand_references(recipe) for recipe in self._recipes]
        compiling = [command for command in commands if _is_compile_command(command)]
        if compiling:
            yield from compiling
        else:
            yield self._expand_references(" ".join(f"$({name})" for name in _IMPLICIT))

    def _is_active(self) -> bool:
        return all(holds for holds, _ in self._branches)

    def _evaluate_line(self, line: str, folder: Path) -> None:
        word, _, rest = line.partition(" ")
        if word.startswith(("ifeq", "ifneq")):
            word, rest = word.partition("(")[0], line.removeprefix(word.partition("(")[0])
        if word in _CONDITIONALS:
            self._enter_branch(word, rest, possible=self._is_active())
        elif word == "else" and self._branches:
            _, done = self._branches.pop()
            word, _, rest = rest.strip().partition(" ")
            self._enter_branch(word, rest, possible=not done)
        elif word == "endif" and self._branches:
            self._branches.pop()
        elif word == "define":
            self._in_definition = True
        elif self._is_active() and word in _INCLUDES:
            for name in self._expanded_text(rest).split():
                if _UNKNOWN not in name:
                    self.evaluate_file(str(folder / name))
        elif self._is_active() and (found := _ASSIGNMENT.fullmatch(line)):
            self._in_rule = False
            self._assign_variable(*found.groups())
        elif ":" in line:
            self._in_rule = True
            _, _, recipe = line.partition(";")
            if recipe and self._is_active():
                self._recipes.append(recipe.strip())

    def _enter_branch(self, word: str, rest: str, *, possible: bool) -> None:
        holds = self._condition_holds(word, rest) if possible and word else possible
        self._branches.append((holds is True, not possible or holds is not False))

    def _condition_holds(self, word: str, rest: str) -> bool | None:
        """Whether a condition holds. None if unknown."""
        if word in ("ifdef", "ifndef"):
            return bool(self._variables.get(rest.strip())) == (word == "ifdef")
        found = _EQUAL.fullmatch(rest.strip())
        if found is None or word not in _CONDITIONALS:
            return None
        sides = [self._expanded_text(side).strip() for side in found.groups() if side is not None]
        if any(_UNKNOWN in side for side in sides):
            return None
        return (sides[0] == sides[1]) == (word == "ifeq")

    def _assign_variable(self, name: str, operator: str, value: str) -> None:
        known = self._variables.get(name)
        if operator == "+=" and known:
            value = f"{known} {value}"
        elif operator == "?=" and known is not None:
            return
        elif operator == "!=":
            value = _UNKNOWN
        elif operator.startswith(":"):
            value = self._expand_references(value).replace("$", "$$")
        self._variables[name] = value if len(value) <= _LONGEST else _UNKNOWN

    def _expanded_text(self, text: str) -> str:
        return self._expand_references(text).replace(_OPEN, "").replace(_CLOSE, "")

    def _expand_references(self, text: str, inside: tuple[str, ...] = ()) -> str:
        """Replaces the references in a text. Each value is between `_OPEN` and `_CLOSE`."""
        parts = []
        at = 0
        while (dollar := text.find("$", at)) >= 0:
            parts.append(text[at:dollar])
            end = _end_of_reference(text, dollar + 1)
            reference = text[dollar + 1 : end]
            parts.append("$" if reference == "$" else self._variable_value(reference, inside))
            at = end
        parts.append(text[at:])
        whole = "".join(parts)
        return whole if len(whole) <= _LONGEST else _UNKNOWN

    def _variable_value(self, reference: str, inside: tuple[str, ...]) -> str:
        self._references += 1
        name = reference[1:-1] if reference[:1] in ("(", "{") else reference
        if self._references > _MOST_REFERENCES or len(inside) > _DEEPEST or name in inside:
            return _UNKNOWN
        function, _, words = name.partition(" ")
        if name in ("<", "^", "+"):
            return "$<"  # the name of a source file
        if function == "strip":
            return self._expand_references(words.strip(), (*inside, name))
        if name.startswith("shell ") and words.strip() in _LINUX:
            return "Linux"
        if words or "$" in name or ":" in name:
            return _UNKNOWN
        value = self._expand_references(self._variables.get(name, ""), (*inside, name))
        return f"{_OPEN}{value}{_CLOSE}"


def _logical_lines(text: str) -> Iterator[str]:
    """Returns the lines. A line that ends in a backslash is joined to the next line."""
    return iter(re.sub(r"\\\r?\n[ \t]*", " ", text).splitlines())


def _end_of_reference(text: str, start: int) -> int:
    """Returns the end of the reference whose `$` precedes `start`."""
    opening = text[start : start + 1]
    closing = {"(": ")", "{": "}"}.get(opening)
    if closing is None:
        return start + 1
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if not depth:
            return at + 1
    return len(text)


def _is_compile_command(command: str) -> bool:
    words = command.replace(_OPEN, "").replace(_CLOSE, "").lstrip("@-+ ").split()
    return words[:1] != ["make"] and any(
        word in ("-c", "$<") or PurePosixPath(word).suffix in SOURCES for word in words
    )


def _macros_in(command: str) -> dict[str, Macro]:
    """Returns the macros of a compile command, by name.

    >>> list(_macros_in("cc -DN=4 -D A -DB -UB -c a.c"))
    ['N', 'A']
    """
    found: dict[str, Macro] = {}
    words = iter(_split_command(command))
    for word in words:
        option = word.lstrip(_OPEN)[:2]
        if option not in ("-D", "-U"):
            continue
        text = word.lstrip(_OPEN)[2:] or next(words, "")
        name, _, value = text.partition("=")
        plain = _VALUE.sub(lambda match: match.group()[1:-1], name).strip(_OPEN + _CLOSE)
        found.pop(plain, None)
        if option == "-D" and plain.isidentifier() and _UNKNOWN not in text:
            own = value.replace(_OPEN, "").replace(_CLOSE, "") if "=" in text else "1"
            pattern = _VALUE.sub(r"\\w+", name).strip(_OPEN + _CLOSE)
            found[plain] = Macro(plain, own, plain if pattern == r"\w+" else pattern)
    return found


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an unbalanced quote
        return command.split()
