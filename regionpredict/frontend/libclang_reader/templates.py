"""Finds the instances of templates in a file by the calls that create them.

libclang shows a template as written. A call refers to its instance, in whose body all types are
known. Each lambda has its own type. A template that runs lambdas in a loop therefore has one
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

Located = tuple[lc.Cursor, int, int, int]  # function, file, begin, end


class Instance(NamedTuple):
    """The function of an instance, and the name of the function that calls it, directly or through
    other instances.
    """

    cursor: lc.Cursor
    caller: str


class Templates:
    """The instances of a file's templates. `located` are its functions, and `sources` its texts."""

    def __init__(
        self, located: Callable[[], list[Located]], sources: Mapping[int, SourceText]
    ) -> None:
        self._lib = lc.library()
        self._located = located
        self._sources = sources
        self._known: dict[int, dict[int, Instance]] = {}  # by the template's key
        self._calls: dict[int, list[tuple[int, lc.Cursor]]] = {}

    def is_template(self, function: lc.Cursor) -> bool:
        """Returns whether a function is a template, or a method of one."""
        if function.kind == FUNCTION_TEMPLATE:
            return True
        if function.kind not in METHODS:
            return False
        return self._lib.clang_getCursorSemanticParent(function).kind in TEMPLATED_CLASSES

    def instances_of(self, template: lc.Cursor) -> list[Instance]:
        """Returns the instances in the file, callers first. They are called by the file's functions
        or by other instances.
        """
        key = self._key(template)
        if key not in self._known:
            self._find_instances([template])
        return list(self._known[key].values())

    def _find_instances(self, templates: list[lc.Cursor]) -> None:
        """Finds all instances of these templates, and of all templates that may call them."""
        leading = {self._key(template): template for template in templates}
        waiting = list(templates)
        while waiting:
            template = waiting.pop()
            self._known.setdefault(self._key(template), {})
            for caller in self._callers(template):
                if self._key(caller) not in leading:
                    leading[self._key(caller)] = caller
                    if self.is_template(caller):
                        waiting.append(caller)
        calling = deque(
            Instance(function, lc.spelling(function)) for function, _, _, _ in self._located()
            if self._key(function) in leading and not self.is_template(function)
        )  # fmt: skip
        seen: set[int] = set()
        while calling:
            caller, root = calling.popleft()
            for key, cursor in self._called_instances(caller):
                if key in leading:
                    instance = Instance(cursor, root)
                    self._known.setdefault(key, {}).setdefault(int(cursor.data0 or 0), instance)
                    if int(cursor.data0 or 0) not in seen:
                        seen.add(int(cursor.data0 or 0))
                        calling.append(instance)

    def with_all_callers(self, functions: Sequence[lc.Cursor]) -> set[int]:
        """Returns the keys of these functions, and of all functions that refer to them directly or
        indirectly.

        In a template, a call whose target depends on types shows only the target's name.
        """
        leading = {int(function.data0 or 0) for function in functions}
        if not any(self.is_template(function) for function, _, _, _ in self._located()):
            return leading

        def callers(name: str) -> list[str]:
            found = self._mentioning(name)
            leading.update(int(caller.data0 or 0) for caller in found)
            return [_name(caller) for caller in found]

        reached(map(_name, functions), callers)
        return leading

    def _callers(self, template: lc.Cursor) -> list[lc.Cursor]:
        """Returns the functions that may call a template. For a constructor, these are all
        functions, since the name of a type may be a constructor call.
        """
        if template.kind == CONSTRUCTOR:
            return [function for function, _, _, _ in self._located()]
        return self._mentioning(_name(template))

    def _mentioning(self, name: str) -> list[lc.Cursor]:
        occurrences = {
            file: places_of_name(text.data, name) for file, text in self._sources.items()
        }
        return functions_holding(self._located(), occurrences)

    def _called_instances(self, caller: lc.Cursor) -> list[tuple[int, lc.Cursor]]:
        """Returns the instances of templates that a function calls, each with the template's
        key.
        """
        own = int(caller.data0 or 0)
        if own in self._calls:
            return self._calls[own]
        called: list[tuple[int, lc.Cursor]] = []

        def look(cursor: lc.Cursor, _parent: lc.Cursor, _data: object) -> int:
            if cursor.kind == CALL:
                target = self._lib.clang_getCursorReferenced(cursor)
                if target.kind in FUNCTIONS:
                    pattern = self._lib.clang_getSpecializedCursorTemplate(target)
                    if pattern.kind in FUNCTIONS:
                        definition = self._lib.clang_getCursorDefinition(target)
                        instance = definition if definition.kind in FUNCTIONS else target
                        called.append((self._key(pattern), instance))
            return 2

        lc.visit(caller, look)
        self._calls[own] = called
        return called

    def _key(self, function: lc.Cursor) -> int:
        return int(self._lib.clang_getCanonicalCursor(function).data0 or 0)


def _name(function: lc.Cursor) -> str:
    """Returns the name with which code refers to a function: `Grid` for the constructor
    `Grid<T>`.
    """
    name = lc.spelling(function)
    return name.partition("<")[0] if function.kind == CONSTRUCTOR else name


def instance_name(function: lc.Cursor) -> str:
    """Returns the name of an instance: `scale<double, 4>`, `Grid<double>::step`, `forall<lambda at
    f.cpp:19>`. Returns "" for any other function.
    """
    lib = lc.library()
    if lib.clang_getSpecializedCursorTemplate(function).kind not in FUNCTIONS:
        return ""
    name = lc.spelling(function)
    count = lib.clang_Cursor_getNumTemplateArguments(function)
    given = [_argument(function, at) for at in range(max(0, count))]
    if given:
        return f"{name}<{', '.join(argument for argument in given if argument)}>"
    parent = lib.clang_getCursorSemanticParent(function)
    return f"{_short(lc.text(lib.clang_getCursorDisplayName(parent)))}::{name}"


def _argument(function: lc.Cursor, at: int) -> str:
    """Returns a template argument: a type or a number. Returns "" for anything else."""
    lib = lc.library()
    if lib.clang_Cursor_getTemplateArgumentKind(function, at) == _INTEGRAL:
        return str(lib.clang_Cursor_getTemplateArgumentValue(function, at))
    type_ = lib.clang_Cursor_getTemplateArgumentType(function, at)
    return _short(lc.text(lib.clang_getTypeSpelling(type_)))


def is_of_lambda(name: str) -> bool:
    """Returns whether this is the name of an instance with a lambda."""
    return "<lambda at " in name or ", lambda at " in name


def _short(type_name: str) -> str:
    return _LAMBDA.sub(
        lambda match: f"lambda at {PurePath(match['file']).name}:{match['line']}", type_name
    )
