"""Finds the instances of templates in a file by the calls that create them.

libclang shows the definition of a template with its parameters. A call refers to an instance, in
which all types are known. Each lambda has its own type, so a template that calls lambdas has one
instance per lambda.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    CALL,
    CONSTRUCTOR,
    FUNCTION_TEMPLATE,
    FUNCTIONS,
    METHODS,
    TEMPLATED_CLASSES,
)
from regionpredict.frontend.text import SourceText, functions_holding, places_of_name
from regionpredict.ir.reached import reached

_LAMBDA = re.compile(r"\(lambda at (?P<file>[^()]*):(?P<line>\d+):\d+\)")
_INTEGRAL = 4  # CXTemplateArgumentKind_Integral

LocatedFunction = tuple[lc.Cursor, int, int, int]  # function, file, begin, end


class Instance(NamedTuple):
    """An instance of a function template, and the name of the function from which it is called,
    directly or through other instances.
    """

    cursor: lc.Cursor
    caller: str


class Templates:
    """Finds the instances of a file's templates. `located` returns the functions of the file, and
    `sources` contains the texts.
    """

    def __init__(
        self, located: Callable[[], list[LocatedFunction]], sources: Mapping[int, SourceText]
    ) -> None:
        self._lib = lc.load_libclang()
        self._located = located
        self._sources = sources
        self._known: dict[int, dict[int, Instance]] = {}  # by the template's key
        self._calls: dict[int, list[tuple[int, lc.Cursor]]] = {}

    def is_template(self, function: lc.Cursor) -> bool:
        """Returns whether a function is a template, or a method of a class template."""
        if function.kind == FUNCTION_TEMPLATE:
            return True
        if function.kind not in METHODS:
            return False
        return self._lib.clang_getCursorSemanticParent(function).kind in TEMPLATED_CLASSES

    def instances_of(self, template: lc.Cursor) -> list[Instance]:
        """Returns the instances of a template that functions of the file or other instances call,
        callers first.
        """
        key = self._key_of_function(template)
        if key not in self._known:
            self._find_instances([template])
        return list(self._known[key].values())

    def _find_instances(self, templates: list[lc.Cursor]) -> None:
        """Finds the instances of these templates, and of all templates that may call them."""
        callers = {self._key_of_function(template): template for template in templates}
        waiting = list(templates)
        while waiting:
            template = waiting.pop()
            self._known.setdefault(self._key_of_function(template), {})
            for caller in self._possible_callers(template):
                if self._key_of_function(caller) not in callers:
                    callers[self._key_of_function(caller)] = caller
                    if self.is_template(caller):
                        waiting.append(caller)
        waiting_instances = deque(
            Instance(function, lc.cursor_name(function)) for function, _, _, _ in self._located()
            if self._key_of_function(function) in callers and not self.is_template(function)
        )  # fmt: skip
        seen: set[int] = set()
        while waiting_instances:
            caller, root = waiting_instances.popleft()
            for key, cursor in self._called_instances(caller):
                if key in callers:
                    instance = Instance(cursor, root)
                    self._known.setdefault(key, {}).setdefault(int(cursor.data0 or 0), instance)
                    if int(cursor.data0 or 0) not in seen:
                        seen.add(int(cursor.data0 or 0))
                        waiting_instances.append(instance)

    def with_all_callers(self, functions: Sequence[lc.Cursor]) -> set[int]:
        """Returns the keys of these functions, and of all functions that may call them, directly or
        indirectly.

        Calls are found by name, since the target of a call in a template may depend on types.
        """
        keys = {int(function.data0 or 0) for function in functions}
        if not any(self.is_template(function) for function, _, _, _ in self._located()):
            return keys

        def callers(name: str) -> list[str]:
            found = self._functions_with_name(name)
            keys.update(int(caller.data0 or 0) for caller in found)
            return [_called_name(caller) for caller in found]

        reached(map(_called_name, functions), callers)
        return keys

    def _possible_callers(self, template: lc.Cursor) -> list[lc.Cursor]:
        """Returns the functions that may call a template. Any function may call a constructor, for
        example by declaring a variable.
        """
        if template.kind == CONSTRUCTOR:
            return [function for function, _, _, _ in self._located()]
        return self._functions_with_name(_called_name(template))

    def _functions_with_name(self, name: str) -> list[lc.Cursor]:
        occurrences = {
            file: places_of_name(text.data, name) for file, text in self._sources.items()
        }
        return functions_holding(self._located(), occurrences)

    def _called_instances(self, caller: lc.Cursor) -> list[tuple[int, lc.Cursor]]:
        """Returns (key of the template, instance) for each call of a template in a function."""
        own = int(caller.data0 or 0)
        if own in self._calls:
            return self._calls[own]
        called: list[tuple[int, lc.Cursor]] = []

        def record_call(cursor: lc.Cursor, _parent: lc.Cursor, _data: object) -> int:
            if cursor.kind == CALL:
                target = self._lib.clang_getCursorReferenced(cursor)
                if target.kind in FUNCTIONS:
                    pattern = self._lib.clang_getSpecializedCursorTemplate(target)
                    if pattern.kind in FUNCTIONS:
                        definition = self._lib.clang_getCursorDefinition(target)
                        instance = definition if definition.kind in FUNCTIONS else target
                        called.append((self._key_of_function(pattern), instance))
            return 2

        lc.visit(caller, record_call)
        self._calls[own] = called
        return called

    def _key_of_function(self, function: lc.Cursor) -> int:
        return int(self._lib.clang_getCanonicalCursor(function).data0 or 0)


def _called_name(function: lc.Cursor) -> str:
    """Returns the name with which callers refer to a function: `Grid` for the constructor
    `Grid<T>`.
    """
    name = lc.cursor_name(function)
    return name.partition("<")[0] if function.kind == CONSTRUCTOR else name


def instance_name(function: lc.Cursor) -> str:
    """Returns the name of a template instance, such as `scale<double, 4>`, `Grid<double>::step` or
    `forall<lambda at f.cpp:19>`. Returns "" for any other function.
    """
    lib = lc.load_libclang()
    if lib.clang_getSpecializedCursorTemplate(function).kind not in FUNCTIONS:
        return ""
    name = lc.cursor_name(function)
    count = lib.clang_Cursor_getNumTemplateArguments(function)
    arguments = [_template_argument(function, at) for at in range(max(0, count))]
    if arguments:
        return f"{name}<{', '.join(argument for argument in arguments if argument)}>"
    parent = lib.clang_getCursorSemanticParent(function)
    return f"{_short_type_name(lc.string_text(lib.clang_getCursorDisplayName(parent)))}::{name}"


def _template_argument(function: lc.Cursor, at: int) -> str:
    """Returns the text of a template argument that is a type or a number, and "" for any other."""
    lib = lc.load_libclang()
    if lib.clang_Cursor_getTemplateArgumentKind(function, at) == _INTEGRAL:
        return str(lib.clang_Cursor_getTemplateArgumentValue(function, at))
    type_ = lib.clang_Cursor_getTemplateArgumentType(function, at)
    return _short_type_name(lc.string_text(lib.clang_getTypeSpelling(type_)))


def is_lambda_instance(name: str) -> bool:
    """Returns whether the name of an instance contains a lambda as template argument."""
    return "<lambda at " in name or ", lambda at " in name


def _short_type_name(type_name: str) -> str:
    return _LAMBDA.sub(
        lambda match: f"lambda at {PurePath(match['file']).name}:{match['line']}", type_name
    )
