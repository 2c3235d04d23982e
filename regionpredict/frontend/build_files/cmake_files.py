"""Interprets a project's CMake files: variables with their default values, and defined macros.

    option(USE_FLOAT "single precision" OFF)          USE_FLOAT  OFF
    set(ORDER "4" CACHE STRING "of the stencil")      ORDER      4
    find_package(OpenMP)                              OpenMP_FOUND, OpenMP_C_FOUND, ...  TRUE
    add_compile_definitions(ORDER=${ORDER})           macro ORDER=4
    configure_file(sizes.in include/sizes.h)          sizes.h is made from sizes.in
    generate_export_header(solver)                    solver_export.h with SOLVER_EXPORT

Commands are executed in order, for Linux and without command-line settings, also in included files,
in the project's macros and functions, and in `foreach`. `while` is ignored. A variable without a
value is empty, as in CMake.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.frontend.build_files.cmake_conditions import condition_holds, expanded

_TOKEN = re.compile(
    r'#\[(=*)\[.*?\]\1\]|#[^\n]*|\[(=*)\[(?P<raw>.*?)\]\2\]|"(?P<quoted>(?:\\.|[^"\\])*)"'
    r"|(?P<bare>[()]|[^\s()#\"]+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
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
_MOST_COMMANDS = 20_000  # maximum number of executed commands for each file
_DEEPEST = 40  # maximum depth of nested calls and loops
_BLOCKS = ("function", "macro", "foreach", "while")
_EXPORT_HEADER = """#define {name}_EXPORT
#define {name}_NO_EXPORT
#define {name}_DEPRECATED
#define {name}_DEPRECATED_EXPORT
#define {name}_DEPRECATED_NO_EXPORT
"""

_Command = tuple[str, Sequence[str]]
"""The name of a command in lower case, and its words."""


class _Procedure(NamedTuple):
    """A macro or function. A function has its own variables."""

    own_variables: bool
    parameters: Sequence[str]
    body: Sequence[_Command]


class CMakeSettings(NamedTuple):
    """The variables after interpretation, and the macros of all targets: (file, name, value).

    `configured` maps each generated file to its template, and `written` to its text. `included` are
    the included files that were read. `procedures` are the macros and functions.
    """

    values: Mapping[str, str]
    macros: Sequence[tuple[str, str, str]]
    configured: Mapping[str, str]
    included: Sequence[str]
    written: Mapping[str, str] = MappingProxyType({})
    procedures: Mapping[str, _Procedure] = MappingProxyType({})


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
    return CMakeSettings(
        project.values, macros, project.configured, tuple(project.included), project.written,
        project.procedures,
    )  # fmt: skip


def _folder_of(path: str) -> str:
    return str(PurePath(path).parent)


def bytes_of(kind: str) -> int:
    """Returns the size of a C type on 64-bit Linux.

    >>> [bytes_of(kind) for kind in ("unsigned char", "int", "size_t", "void *")]
    [1, 4, 8, 8]
    """
    plain = " ".join(kind.lower().split())
    return _SIZES.get(plain.removeprefix("unsigned ").removeprefix("signed "), _POINTER)


class _Project:
    """The interpreted state of a project.

    `_branches` has one entry per enclosing `if`: whether its commands are active, and whether an
    earlier branch was active. `_hidden` has the outer values of variables that a function sets, for
    each function that runs. `_returned` are its values for the caller.
    """

    def __init__(
        self, before: CMakeSettings, text_of: Callable[[str], str],
        is_declared: Callable[[str], bool], has_header: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.values = dict(before.values)
        self.configured = dict(before.configured)
        self.included = dict.fromkeys(before.included)
        self.written = dict(before.written)
        self.procedures = dict(before.procedures)
        self._text_of = text_of
        self._folder = ""
        self._is_declared, self._has_header = is_declared, has_header
        self._branches: list[tuple[bool, bool]] = []
        self._left = _MOST_COMMANDS
        self._depth = 0
        self._hidden: list[dict[str, str | None]] = []
        self._returned: dict[str, str] = {}
        self._targets: set[str] = set()
        self._defined: dict[tuple[str, str], set[str]] = {}

    def interpret_file(self, path: str) -> None:
        """Interprets the commands of one file."""
        self._branches, self._left = [], _MOST_COMMANDS
        self._targets, self._defined = set(), {}
        self._folder = _folder_of(path)
        top = self.values.get("CMAKE_SOURCE_DIR", self._folder)
        if not PurePath(self._folder).is_relative_to(top):  # another project
            top = self._folder
        for kind, source in (("CMAKE", top), ("CMAKE_CURRENT", self._folder), ("PROJECT", top)):
            self.values |= {f"{kind}_SOURCE_DIR": source, f"{kind}_BINARY_DIR": source}
        self._execute_commands(list(_parsed_commands(self._text_of(path))))

    def _execute_commands(self, commands: Sequence[_Command]) -> None:
        at = 0
        while at < len(commands) and self._left:
            self._left -= 1
            name, words = commands[at]
            at += 1
            if name in _BLOCKS:
                end = _end_of_block(commands, at)
                if self._is_active() and words:
                    self._execute_block(name, words, commands[at:end])
                at = end + 1
            elif name == "if":
                active = self._is_active()
                holds = active and condition_holds(words, self.values)
                self._branches.append((holds, holds or not active))
            elif name in ("elseif", "else") and self._branches:
                _, taken = self._branches.pop()
                holds = not taken and (name == "else" or condition_holds(words, self.values))
                self._branches.append((holds, holds or taken))
            elif name == "endif" and self._branches:
                self._branches.pop()
            elif self._is_active():
                if name == "return":
                    return
                self._execute_command(name, [expanded(word, self.values) for word in words])

    def _execute_body(self, commands: Sequence[_Command]) -> None:
        """Executes commands that nest in the current ones."""
        if self._depth == _DEEPEST:
            return
        self._depth += 1
        branches, self._branches = self._branches, []
        self._execute_commands(commands)
        self._branches = branches
        self._depth -= 1

    def _execute_block(
        self, kind: str, words: Sequence[str], body: Sequence[_Command]
    ) -> None:  # fmt: skip
        name, *rest = words
        if kind in ("function", "macro"):
            self.procedures[name.lower()] = _Procedure(kind == "function", rest, body)
        elif kind == "foreach" and rest[:1] != ["RANGE"]:
            items = [item for word in rest for item in expanded(word, self.values).split(";")]
            if rest[:2] == ["IN", "LISTS"]:
                items = [item for each in rest[2:] for item in self.values.get(each, "").split(";")]
            elif rest[:2] == ["IN", "ITEMS"]:
                items = items[2:]
            for item in filter(None, items):
                self.values[name] = item
                self._execute_body(body)

    def _call(self, procedure: _Procedure, arguments: Sequence[str]) -> None:
        named = dict(zip(procedure.parameters, arguments, strict=False))
        named |= {f"ARGV{at}": argument for at, argument in enumerate(arguments)}
        named["ARGC"] = str(len(arguments))
        named["ARGV"] = ";".join(arguments)[:_LONGEST]
        named["ARGN"] = ";".join(arguments[len(procedure.parameters) :])[:_LONGEST]
        if not procedure.own_variables:  # the arguments of a macro replace text
            self._execute_body([
                (name, [_with_arguments(word, named) for word in words])
                for name, words in procedure.body
            ])  # fmt: skip
            return
        self._hidden.append({})
        for name, value in named.items():
            self._set_here(name, value)
        self._execute_body(procedure.body)
        for name, outer in self._hidden.pop().items():
            self.values.pop(name, None)
            if outer is not None:
                self.values[name] = outer
        returned, self._returned = self._returned, {}
        for name, value in returned.items():
            self._set_here(name, value)

    def _set_here(self, variable: str, value: str) -> None:
        """Sets a variable of the function that runs, or of the file."""
        if self._hidden:
            self._hidden[-1].setdefault(variable, self.values.get(variable))
        self.values[variable] = value if len(value) <= _LONGEST else ""

    def macros(self) -> dict[str, str]:
        """Returns the macros that the last file defines for all of its targets."""
        return {
            name: value for (name, value), targets in self._defined.items()
            if "" in targets or targets >= self._targets
        }  # fmt: skip

    def _is_active(self) -> bool:
        return all(holds for holds, _ in self._branches)

    def _execute_command(self, name: str, words: Sequence[str]) -> None:
        if name in self.procedures:
            self._call(self.procedures[name], words)
            return
        match name, words:
            case "set", [variable, *rest]:
                self._set_variable(variable, rest)
            case "unset", [variable, *_]:
                self._hide(variable)
            case "string", [action, *rest]:
                self._string(action, rest)
            case "cmake_parse_arguments", [_, _, _, _, *_]:
                self._parse_arguments(words)
            case "generate_export_header", [target, *rest]:
                self._write_export_header(target, rest)
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
        if "CACHE" in rest:
            value = ";".join(rest[: rest.index("CACHE")])
            if "FORCE" in rest or variable not in self.values:
                self.values[variable] = value if len(value) <= _LONGEST else ""
        elif rest[-1:] == ["PARENT_SCOPE"]:
            target = self._returned if self._hidden else self.values
            target[variable] = ";".join(rest[:-1])[:_LONGEST]
        else:
            self._set_here(variable, ";".join(rest))

    def _string(self, action: str, words: Sequence[str]) -> None:
        """Executes `string(TOUPPER text variable)` and similar commands."""
        match action, words:
            case "TOUPPER" | "TOLOWER", [text, variable]:
                self._set_here(variable, text.upper() if action == "TOUPPER" else text.lower())
            case "APPEND", [variable, *texts]:
                self._set_here(variable, self.values.get(variable, "") + "".join(texts))
            case "CONCAT", [variable, *texts]:
                self._set_here(variable, "".join(texts))
            case "STRIP", [text, variable]:
                self._set_here(variable, text.strip())
            case "REPLACE", [old, new, variable, *texts] if old:
                self._set_here(variable, "".join(texts).replace(old, new))

    def _parse_arguments(self, words: Sequence[str]) -> None:
        """Executes `cmake_parse_arguments(prefix options single several arguments...)`."""
        prefix, options, single, several, *given = words
        keywords = {
            key: kind for kind, keys in enumerate((options, single, several))
            for key in keys.split(";") if key
        }  # fmt: skip
        found: dict[str, list[str]] = {}
        key = ""
        for word in (part for argument in given for part in argument.split(";")):
            if word in keywords:
                key = word
                found[key] = []
            elif key and keywords[key] and (keywords[key] == 2 or not found[key]):
                found[key].append(word)
        for key, kind in keywords.items():
            if kind == 0:
                self._set_here(f"{prefix}_{key}", "TRUE" if key in found else "FALSE")
            elif key in found:
                self._set_here(f"{prefix}_{key}", ";".join(found[key]))
            else:
                self._hide(f"{prefix}_{key}")

    def _hide(self, variable: str) -> None:
        """Unsets a variable of the function that runs, or of the file."""
        if self._hidden:
            self._hidden[-1].setdefault(variable, self.values.get(variable))
        self.values.pop(variable, None)

    def _write_export_header(self, target: str, rest: Sequence[str]) -> None:
        given = dict(zip(rest[::2], rest[1::2], strict=False))
        name = given.get("BASE_NAME", target)
        made = given.get("EXPORT_FILE_NAME", f"{name.lower()}_export.h")
        self.written.setdefault(made, _EXPORT_HEADER.format(name=name.upper()))

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
                self._execute_body(list(_parsed_commands(text)))
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


def _with_arguments(word: str, arguments: Mapping[str, str]) -> str:
    """Replaces the parameters of a macro. Other references to variables remain."""
    for name, value in arguments.items():
        if "${" not in word:
            break
        word = word.replace(f"${{{name}}}", value)
    return word[:_LONGEST]


def _end_of_block(commands: Sequence[_Command], at: int) -> int:
    """Returns the position of the command that ends a block whose body begins at `at`."""
    depth = 1
    while at < len(commands):
        name = commands[at][0]
        depth += (name in _BLOCKS) - (name.startswith("end") and name[3:] in _BLOCKS)
        if not depth:
            break
        at += 1
    return at


def _parsed_commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the commands in lower case, each with its words."""
    name, depth = "", 0
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        raw, quoted, bare = match.group("raw", "quoted", "bare")
        if quoted is not None:
            quoted = _ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted)
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
