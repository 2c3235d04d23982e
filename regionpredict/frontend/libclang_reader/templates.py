"""Finds the instances of templates in a file by the calls that create them.

libclang shows a template as written. A call refers to its instance, whose body has known types.
Each lambda has its own type, so a template that runs lambdas over a loop has one instance per
lambda.
"""

from __future__ import annotations

import re
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
from regionpredict.frontend.text import SourceText, functions_holding, mentioned_at

_LAMBDA = re.compile(r"\(lambda at (?P<file>[^()]*):(?P<line>\d+):\d+\)")
_DEEPEST = 8  # maximum nesting of template calls
_INTEGRAL = 4  # CXTemplateArgumentKind_Integral

Located = tuple[lc.Cursor, int, int, int]  # function, file, begin, end


class Instance(NamedTuple):
    """An instance's function, and the name of the function that calls it."""

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
        self._known: dict[int, list[Instance]] = {}

    def is_template(self, function: lc.Cursor) -> bool:
        """Whether a function is a template, or a method of one."""
        if function.kind == FUNCTION_TEMPLATE:
            return True
        if function.kind not in METHODS:
            return False
        return self._lib.clang_getCursorSemanticParent(function).kind in TEMPLATED_CLASSES

    def instances_of(self, template: lc.Cursor, depth: int = 0) -> list[Instance]:
        """The instances in the file, in the order of their callers."""
        key = self._key(template)
        if key in self._known:
            return self._known[key]
        self._known[key] = []  # for recursion
        instances: dict[int, Instance] = {}
        for caller in self._callers(template) if depth < _DEEPEST else ():
            for version, caller_name in self._versions(caller, key, depth):
                for cursor in self._asked_for(version, key):
                    instances.setdefault(int(cursor.data0 or 0), Instance(cursor, caller_name))
        self._known[key] = list(instances.values())
        return self._known[key]

    def leading_to(self, functions: Sequence[lc.Cursor]) -> set[int]:
        """The keys of these functions, and of all functions that refer to them, directly or
        indirectly.

        If the function depends on types, a template shows calls only by name.
        """
        leading = {int(function.data0 or 0) for function in functions}
        if not any(self.is_template(function) for function, _, _, _ in self._located()):
            return leading
        waiting = [_name(function) for function in functions]
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            for caller in self._mentioning(name):
                leading.add(int(caller.data0 or 0))
                if (spelled := _name(caller)) not in seen:
                    seen.add(spelled)
                    waiting.append(spelled)
        return leading

    def _callers(self, template: lc.Cursor) -> list[lc.Cursor]:
        """The functions that may call a template. A constructor is called by any type's name."""
        if template.kind == CONSTRUCTOR:
            return [function for function, _, _, _ in self._located()]
        return self._mentioning(_name(template))

    def _mentioning(self, name: str) -> list[lc.Cursor]:
        occurrences = {file: mentioned_at(text.data, name) for file, text in self._sources.items()}
        return functions_holding(self._located(), occurrences)

    def _versions(self, caller: lc.Cursor, key: int, depth: int) -> list[Instance]:
        if self._key(caller) == key:
            return []
        if not self.is_template(caller):
            return [Instance(caller, lc.spelling(caller))]
        return self.instances_of(caller, depth + 1)

    def _asked_for(self, caller: lc.Cursor, key: int) -> list[lc.Cursor]:
        cursors: list[lc.Cursor] = []

        def look(cursor: lc.Cursor, _parent: lc.Cursor, _data: object) -> int:
            if cursor.kind == CALL:
                target = self._lib.clang_getCursorReferenced(cursor)
                if target.kind in FUNCTIONS:
                    pattern = self._lib.clang_getSpecializedCursorTemplate(target)
                    if pattern.kind in FUNCTIONS and self._key(pattern) == key:
                        definition = self._lib.clang_getCursorDefinition(target)
                        cursors.append(definition if definition.kind in FUNCTIONS else target)
            return 2

        lc.visit(caller, look)
        return cursors

    def _key(self, function: lc.Cursor) -> int:
        return int(self._lib.clang_getCanonicalCursor(function).data0 or 0)


def _name(function: lc.Cursor) -> str:
    """The name by which code refers to a function: `Grid` for the constructor `Grid<T>`."""
    name = lc.spelling(function)
    return name.partition("<")[0] if function.kind == CONSTRUCTOR else name


def instance_name(function: lc.Cursor) -> str:
    """`scale<double, 4>`, `Grid<double>::step`, `forall<lambda at f.cpp:19>`; "" for any other."""
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
    """A template argument: a type or a number. "" for anything else."""
    lib = lc.library()
    if lib.clang_Cursor_getTemplateArgumentKind(function, at) == _INTEGRAL:
        return str(lib.clang_Cursor_getTemplateArgumentValue(function, at))
    type_ = lib.clang_Cursor_getTemplateArgumentType(function, at)
    return _short(lc.text(lib.clang_getTypeSpelling(type_)))


def is_of_lambda(name: str) -> bool:
    """Whether it is the name of an instance with a lambda."""
    return "<lambda at " in name or ", lambda at " in name


def _short(type_name: str) -> str:
    return _LAMBDA.sub(
        lambda match: f"lambda at {PurePath(match['file']).name}:{match['line']}", type_name
    )
