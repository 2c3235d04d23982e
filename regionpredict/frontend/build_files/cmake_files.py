"""Interprets a project's CMake files: variables with their default values, and defined macros.

    option(USE_FLOAT "single precision" OFF)          USE_FLOAT  OFF
    set(ORDER "4" CACHE STRING "of the stencil")      ORDER      4
    find_package(OpenMP)                              OpenMP_FOUND, OpenMP_C_FOUND, ...  TRUE
    add_compile_definitions(ORDER=${ORDER})           macro ORDER=4
    configure_file(sizes.in include/sizes.h)          sizes.h is made from sizes.in

Commands are executed in order, for Linux and without command-line settings, also in included files.
Functions, macros and loops are ignored. A variable without a value is empty, as in CMake.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

_TOKEN = re.compile(
    r'#\[(=*)\[.*?\]\1\]|#[^\n]*|\[(=*)\[(?P<raw>.*?)\]\2\]|"(?P<quoted>(?:\\.|[^"\\])*)"'
    r"|(?P<bare>[()]|[^\s()#\"]+)",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\$\{([\w.+/-]+)\}|@([\w.+/-]+)@")
_FALSE = frozenset(("", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"))
_TRUE = frozenset(("1", "ON", "YES", "TRUE", "Y"))
_LANGUAGES = ("", "_C", "_CXX")
_FOUND = ("OpenMP", "MPI", "Threads")
_PARTS = ("MAJOR", "MINOR", "PATCH", "TWEAK")
_PLATFORM = {"UNIX": "1", "LINUX": "1", "CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SIZEOF_VOID_P": "8",
             "CMAKE_C_COMPILER_ID": "GNU", "CMAKE_CXX_COMPILER_ID": "GNU"}  # fmt: skip
_SIZES = {
    **dict.fromkeys(("char", "bool", "_bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "short int", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "float", "wchar_t", "unsigned", "signed", "int32_t", "uint32_t"), 4),
    "long double": 16,
}  # bytes on 64-bit Linux
_POINTER = 8  # bytes of all other tested types: long, double, size_t, pointers
_MOST_INCLUDED = 200  # maximum number of included files
_LONGEST = 10_000  # maximum characters of a value, since `set(A "${A}${A}")` doubles it
_REACHES = ("PUBLIC", "PRIVATE", "INTERFACE")
_COMMANDS_IN_SCOPES = ("function", "macro", "foreach", "while")


class CMakeSettings(NamedTuple):
    """The variables after interpretation, and the macros of all targets: (file, name, value).

    `configured` maps each generated file to its template. `included` are the included files that
    were read.
    """

    values: Mapping[str, str]
    macros: Sequence[tuple[str, str, str]]
    configured: Mapping[str, str]
    included: Sequence[str]


NO_CMAKE_SETTINGS = CMakeSettings(_PLATFORM, (), {}, ())


def interpret_cmake_files(
    paths: Sequence[str], text_of: Callable[[str], str], is_declared: Callable[[str], bool],
    has_header: Callable[[str], bool], before: CMakeSettings = NO_CMAKE_SETTINGS,
) -> CMakeSettings:  # fmt: skip
    """Interprets a project's CMake files, from its top folder downwards, after the files of
    `before`.

    `text_of` reads a file, and returns "" for a missing file. `is_declared` says whether the system
    has a function, and `has_header` whether it has a header.
    """
    project = _Project(before, text_of, is_declared, has_header)
    macros = [*before.macros]
    for path in paths:
        project.interpret_file(path)
        macros += [(path, name, value) for name, value in project.macros().items()]
    return CMakeSettings(project.values, macros, project.configured, tuple(project.included))


def _folder_of(path: str) -> str:
    return str(PurePath(path).parent)


def is_true(value: str) -> bool:
    """Whether CMake considers a value true.

    >>> [is_true(value) for value in ("ON", "2.5", "off", "MPI-NOTFOUND", "")]
    [True, True, False, False, False]
    """
    return value.upper() not in _FALSE and not value.upper().endswith("-NOTFOUND")


def replace_variables(text: str, values: Mapping[str, str]) -> str:
    """Replaces the variable references in a text.

    >>> replace_variables("#define V ${MAJOR}.@MINOR@", {"MAJOR": "3", "MINOR": "1"})
    '#define V 3.1'
    """
    return _REFERENCE.sub(lambda match: values.get(match.group(1) or match.group(2), ""), text)


def bytes_of(kind: str) -> int:
    """Returns the size of a C type on 64-bit Linux.

    >>> [bytes_of(kind) for kind in ("unsigned char", "int", "size_t", "void *")]
    [1, 4, 8, 8]
    """
    plain = " ".join(kind.lower().split())
    return _SIZES.get(plain.removeprefix("unsigned ").removeprefix("signed "), _POINTER)


class _Project:
    """The interpreted state of a project. `_branches` has one entry per enclosing `if`: whether its
    commands are active, and whether an earlier branch was active.
    """

    def __init__(
        self, before: CMakeSettings, text_of: Callable[[str], str],
        is_declared: Callable[[str], bool], has_header: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.values = dict(before.values)
        self.configured = dict(before.configured)
        self.included = dict.fromkeys(before.included)
        self._text_of = text_of
        self._folder = ""
        self._is_declared, self._has_header = is_declared, has_header
        self._branches: list[tuple[bool, bool]] = []
        self._scopes = 0
        self._targets: set[str] = set()
        self._defined: dict[tuple[str, str], set[str]] = {}

    def interpret_file(self, path: str) -> None:
        """Interprets the commands of one file."""
        self._branches, self._scopes = [], 0
        self._targets, self._defined = set(), {}
        self._folder = _folder_of(path)
        top = self.values.get("CMAKE_SOURCE_DIR", self._folder)
        if not PurePath(self._folder).is_relative_to(top):  # another project
            top = self._folder
        for kind, source in (("CMAKE", top), ("CMAKE_CURRENT", self._folder), ("PROJECT", top)):
            self.values |= {f"{kind}_SOURCE_DIR": source, f"{kind}_BINARY_DIR": source}
        self._execute_commands(self._text_of(path))

    def _execute_commands(self, text: str) -> None:
        for name, words in _parsed_commands(text):
            if name in _COMMANDS_IN_SCOPES:
                self._scopes += 1
            elif name.removeprefix("end") in _COMMANDS_IN_SCOPES:
                self._scopes -= 1
            elif name == "if":
                active = self._is_active()
                holds = active and self._condition_holds(words)
                self._branches.append((holds, holds or not active))
            elif name in ("elseif", "else") and self._branches:
                _, taken = self._branches.pop()
                holds = not taken and (name == "else" or self._condition_holds(words))
                self._branches.append((holds, holds or taken))
            elif name == "endif" and self._branches:
                self._branches.pop()
            elif self._is_active() and not self._scopes:
                self._execute_command(
                    name, [replace_variables(word, self.values) for word in words]
                )

    def macros(self) -> dict[str, str]:
        """Returns the macros that the last file defines for all of its targets."""
        return {
            name: value for (name, value), targets in self._defined.items()
            if "" in targets or targets >= self._targets
        }  # fmt: skip

    def _is_active(self) -> bool:
        return all(holds for holds, _ in self._branches)

    def _condition_holds(self, words: Sequence[str]) -> bool:
        """Whether a condition holds. False if this is unknown."""
        if "(" in words:
            return False
        return any(
            all(self._simple_condition_holds(part) for part in _split_words(alternative, "AND"))
            for alternative in _split_words(words, "OR")
        )

    def _simple_condition_holds(self, words: Sequence[str]) -> bool:
        """Whether a condition without `AND` and `OR` holds."""
        match list(words):
            case ["NOT", *rest] if rest[:1] != ["NOT"]:
                return not self._simple_condition_holds(rest)
            case ["DEFINED", name]:
                return name in self.values
            case [left, "STREQUAL" | "EQUAL", right]:
                return self._comparison_value(left) == self._comparison_value(right)
            case [word]:
                known = replace_variables(word, self.values)
                return known.upper() in _TRUE or is_true(self.values.get(known, ""))
        return False

    def _comparison_value(self, word: str) -> str:
        return self.values.get(word, replace_variables(word, self.values))

    def _execute_command(self, name: str, words: Sequence[str]) -> None:
        match name, words:
            case "set", [variable, *rest]:
                self._set_variable(variable, rest)
            case "unset", [variable, *_]:
                self.values.pop(variable, None)
            case "list", ["APPEND", variable, *rest]:
                self._set_variable(variable, [*filter(None, [self.values.get(variable)]), *rest])
            case "include", [module, *_]:
                self._include_file(module)
            case "configure_file", [template, made, *_]:
                self.configured.setdefault(made, str(PurePath(self._folder, template)))
            case "option", [variable, _, *rest]:
                self.values.setdefault(variable, rest[0] if rest else "OFF")
            case "cmake_dependent_option", [variable, _, value, *_]:
                self.values.setdefault(variable, value)
            case "project", [title, *rest]:
                self._declare_project(title, rest)
            case "find_package", [package, *_] if package in _FOUND:
                for spelled in (package, package.upper()):
                    for language in _LANGUAGES:
                        self.values[f"{spelled}{language}_FOUND"] = "TRUE"
            case "check_include_file" | "check_include_file_cxx", [header, variable, *_]:
                self._store_check_result(variable, self._has_header(header))
            case "check_include_files", [headers, variable, *_]:
                self._store_check_result(variable, all(map(self._has_header, headers.split(";"))))
            case "check_function_exists", [function, variable, *_]:
                self._store_check_result(variable, self._is_declared(function))
            case "check_symbol_exists" | "check_cxx_symbol_exists", [symbol, _, variable, *_]:
                self._store_check_result(variable, self._is_declared(symbol))
            case "check_type_size", [kind, variable, *_]:
                self.values.update({variable: str(bytes_of(kind)), f"HAVE_{variable}": "1"})
            case "add_executable" | "add_library", [target, *_]:
                self._targets.add(target)
            case "add_definitions" | "add_compile_definitions", macros:
                self._define_macros("", macros)
            case "target_compile_definitions", [target, *macros]:
                self._define_macros(target, macros)

    def _set_variable(self, variable: str, rest: Sequence[str]) -> None:
        cached = "CACHE" in rest
        value = ";".join(rest[: rest.index("CACHE")] if cached else rest)
        if value.endswith(";PARENT_SCOPE"):
            value = value.removesuffix(";PARENT_SCOPE")
        if not cached or "FORCE" in rest or variable not in self.values:
            self.values[variable] = value if len(value) <= _LONGEST else ""

    def _include_file(self, module: str) -> None:
        """Interprets an included file, or a module in one of the project's folders, once."""
        folders = (self._folder, *self.values.get("CMAKE_MODULE_PATH", "").split(";"))
        name = module if module.endswith((".cmake", ".txt")) else f"{module}.cmake"
        for folder in folders:
            path = os.path.normpath(PurePath(folder, name))
            inside = PurePath(path).is_relative_to(self.values["CMAKE_SOURCE_DIR"])
            text = self._text_of(path) if inside else ""
            if text and path not in self.included and len(self.included) < _MOST_INCLUDED:
                self.included[path] = None
                branches, self._branches = self._branches, []
                self._execute_commands(text)
                self._branches = branches
                break

    def _define_macros(self, target: str, words: Sequence[str]) -> None:
        for word in ";".join(words).split(";"):
            name, _, value = word.removeprefix("-D").partition("=")
            if name not in _REACHES and name.isidentifier() and "$<" not in value:
                macro = name, value if "=" in word else "1"
                self._defined.setdefault(macro, set()).add(target)

    def _declare_project(self, title: str, rest: Sequence[str]) -> None:
        version = rest[rest.index("VERSION") + 1 :][:1] if "VERSION" in rest else []
        known = {"NAME": title, "VERSION": "".join(version),
                 "SOURCE_DIR": self._folder, "BINARY_DIR": self._folder}  # fmt: skip
        numbers = "".join(version).split(".")
        known.update(
            (f"VERSION_{part}", number) for part, number in zip(_PARTS, numbers, strict=False)
        )
        for part, value in known.items():
            self.values[f"PROJECT_{part}"] = self.values[f"{title}_{part}"] = value
            self.values.setdefault(f"CMAKE_PROJECT_{part}", value)

    def _store_check_result(self, variable: str, holds: bool) -> None:
        self.values[variable] = "1" if holds else ""


def _split_words(words: Sequence[str], separator: str) -> list[list[str]]:
    """Splits words at a separator."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _parsed_commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the commands in lower case, each with its words."""
    name, depth = "", 0
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        raw, quoted, bare = match.group("raw", "quoted", "bare")
        word = next((part for part in (raw, quoted, bare) if part is not None), None)
        if word is None:
            continue
        if bare == ")" and depth == 1:
            yield name, words
            words, depth = [], 0
        elif not depth:
            if bare == "(":
                depth = 1
            else:
                name = word.lower()
        else:
            depth += {"(": 1, ")": -1}.get(bare or "", 0)
            words.append(word)
