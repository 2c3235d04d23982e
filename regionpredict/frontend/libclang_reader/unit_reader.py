"""Reads a source file with libclang into a `Unit`.

The file is parsed without `-fopenmp`, because libclang hides the loop below a known directive.
Directives come from the text (`pragmas`) and are attached to the following statements. Functions
without a directive become trees on demand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial

from regionpredict.errors import InputError
from regionpredict.frontend.headers import SHIPPED, has_system_headers, is_system_path
from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    CONTAINERS,
    ENUMERATION,
    ENUMERATOR,
    FUNCTIONS,
    VARIABLE,
)
from regionpredict.frontend.libclang_reader.declarations import INTERNAL_LINKAGE
from regionpredict.frontend.libclang_reader.parsing import GuessingParser
from regionpredict.frontend.libclang_reader.statements import TreeBuilder
from regionpredict.frontend.libclang_reader.templates import (
    Instance,
    Templates,
    instance_name,
    is_lambda_instance,
)
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.requests import SourceRequest, is_cpp, read_regular_file
from regionpredict.frontend.syntax import (
    Decl,
    Function,
    Located,
    Pragma,
    Unit,
)
from regionpredict.frontend.syntax.directive import threadprivate
from regionpredict.frontend.text import (
    MacroTable,
    Masked,
    SourceText,
    base_classes_in,
    blank_ranges,
    find_pragmas,
    inactive_loops,
    left_out_macros,
    masked,
    may_hold_directives,
    threads_set,
    with_numbers,
)


def parse_unit(request: SourceRequest) -> Unit:
    """Parses one C or C++ file to a `Unit`. Raises InputError if it cannot be read."""
    read_regular_file(request.path)
    return _UnitReader(request).unit()


class _UnitReader:
    """Reads one file, and converts its functions on demand. libclang's translation unit lives as
    long as the `Unit`.
    """

    def __init__(self, request: SourceRequest) -> None:
        self.request = request
        self.lib = lc.load_libclang()
        parser = GuessingParser(request)
        self.parsed = parser.parse()
        self.handle = self.parsed.handle
        self.file_name = self.parsed.file_name
        self.sources: dict[int, SourceText] = {}
        self.active: dict[int, Masked] = {}
        self.disabled: dict[int, list[tuple[int, int]]] = {}
        self.inclusions = Counter[int]()
        self.macros = MacroTable()
        self.place = lc.SourcePositions()
        self._define_disabled_macros(parser)
        self.diagnostics = parser.diagnostics
        self.errors = parser.errors
        self.lookups = parser.lookups()
        self.builder = TreeBuilder(TypeReader(), self.file_name, self._function_at, self.sources)
        self.functions: dict[int, Function | None] = {}
        self.enumerators: dict[str, int] | None = None
        self.known_bodies: dict[Decl, Function | None] = {}
        self.templates = Templates(self._located_functions, self.sources)
        self.leads_to_directive: set[int] = (
            set()
        )  # functions with a directive, or that may call one
        self.located: list[tuple[lc.Cursor, int, int, int]] | None = None
        self.top_level_cursors: list[lc.Cursor] | None = None

    # -- the unit -------------------------------------------------------------------------------

    def unit(self) -> Unit:
        """Reads the directives and the functions that contain them. Other functions are read on
        demand.
        """
        user_files = self._user_files()
        self._read_macros(user_files)
        directives = self._read_directives(user_files)
        functions = self._functions_with_directives(directives)
        return Unit(
            path=self.request.path,
            functions=tuple(functions),
            located=self._defined_functions(),
            texts=self._texts(),
            body_of=self.body_of,
            variables=self.variables,
            directives=tuple((name, p) for _, name, p in directives if p.is_loop),
            diagnostics=tuple(self.diagnostics),
            files=tuple(self.file_name(file) for file in user_files),
            macros=self.macros.constants,
            lookups=self.lookups,
            getters=self.builder.getters,
            base_classes=self._base_classes(),
            threadprivate=threadprivate(pragma for _, _, pragma in directives),
            errors=self.errors,
            overloads=is_cpp(self.request.path),
            headers="system" if has_system_headers() else "shipped",
            reassociates=self.request.reassociates,
            close=self.parsed.close,
        )

    def _texts(self) -> dict[Hashable, bytes]:
        """Returns the texts of the user's files, and of the macros on the command line."""
        texts: dict[Hashable, bytes] = {file: source.data for file, source in self.sources.items()}
        texts[0] = self.request.macro_text
        return texts

    def _define_disabled_macros(self, parser: GuessingParser) -> None:
        """Parses the file again with definitions for macros that an `#if` disables."""
        texts: dict[int, bytes] = {}
        for file in self._user_files():
            try:
                texts[file] = read_regular_file(self.file_name(file))
            except InputError:
                continue
        if is_cpp(self.request.path) or not left_out_macros((d, b"") for d in texts.values()):
            return
        defines = left_out_macros(
            (masked(data).code, self._active_text(file, data).code) for file, data in texts.items()
        )
        if not defines:
            return
        # The keys of these tables are file handles, which are valid for one parse.
        self.active.clear()
        self.disabled.clear()
        self.inclusions.clear()
        self.parsed.close()
        self.parsed = parser.parse_with(defines)
        self.handle, self.file_name = self.parsed.handle, self.parsed.file_name

    def _user_files(self) -> list[int]:
        files = []
        for file, _, _ in lc.inclusions_in_unit(self.handle):
            name = self.file_name(file)
            if file and name != lc.PRELUDE and not is_system_path(name) and file not in files:
                files.append(file)
        return files

    def _read_macros(self, files: list[int]) -> None:
        for file in files:
            try:
                data = read_regular_file(self.file_name(file))
            except InputError:
                continue
            self.sources[file] = SourceText(self.file_name(file), data)
            if b"define" in data:
                self.macros.add_text(self._active_text(file, data).code)
        for name, value in self.request.defines:
            self.macros.add(name, value)

    def _read_directives(self, files: list[int]) -> list[tuple[int, str, Pragma]]:
        directives: list[tuple[int, str, Pragma]] = []
        for file in files:
            source = self.sources.get(file)
            if source is None:
                continue
            self.diagnostics += threads_set(source, partial(self._is_kept, file))
            if not may_hold_directives(source.data, self.macros):
                continue
            pragmas = find_pragmas(source, self.macros, self._active_text(file, source.data))
            self.diagnostics += inactive_loops(
                source, self.macros, pragmas, partial(self._is_kept, file)
            )
            if pragmas:
                pragmas = [with_numbers(pragma, self._enumerator) for pragma in pragmas]
                self.builder.set_pragmas(file, pragmas)
                directives.extend((file, source.path, pragma) for pragma in pragmas)
        return directives

    def _enumerator(self, name: str) -> int | None:
        """Returns the value of an enumerator at file scope."""
        if self.enumerators is None:
            top = self.lib.clang_getTranslationUnitCursor(self.handle)
            self.enumerators = {
                lc.cursor_name(child): int(self.lib.clang_getEnumConstantDeclValue(child))
                for declared in lc.children_of_kinds(top, frozenset((ENUMERATION,)))
                for child in lc.children_of_kinds(declared, frozenset((ENUMERATOR,)))
            }
        return self.enumerators.get(name)

    def _active_text(self, file: int, data: bytes) -> Masked:
        """Returns the text of a file without the parts that the preprocessor removes."""
        text = self.active.get(file)
        if text is None:
            text = self.active[file] = masked(blank_ranges(data, self._disabled_ranges(file)))
        return text

    def _is_kept(self, file: int, begin: int, end: int) -> bool:
        """Returns whether the preprocessor keeps the text from offset `begin` to `end`."""
        return not any(
            first <= begin and end <= last for first, last in self._disabled_ranges(file)
        )

    def _disabled_ranges(self, file: int) -> list[tuple[int, int]]:
        """Returns the offset ranges of a file that a false `#if` removes in every inclusion."""
        if file not in self.disabled:
            self.disabled[file] = self._find_disabled_ranges(file)
        return self.disabled[file]

    def _find_disabled_ranges(self, file: int) -> list[tuple[int, int]]:
        ranges = self.lib.clang_getSkippedRanges(self.handle, file)
        edges: list[tuple[int, int]] = []
        place = lc.SourcePositions()
        for number in range(ranges.contents.count):
            skipped_range = ranges.contents.ranges[number]
            begin = place.read(
                lc.Location(skipped_range.ptr0, skipped_range.ptr1, skipped_range.begin)
            )[3]
            end = place.read(
                lc.Location(skipped_range.ptr0, skipped_range.ptr1, skipped_range.end)
            )[3]
            edges += [(begin, 1), (end, -1)]
        self.lib.clang_disposeSourceRangeList(ranges)
        if edges and not self.inclusions:
            self.inclusions.update(inner for inner, _, _ in lc.inclusions_in_unit(self.handle))
        inclusion_count = self.inclusions[file] if edges else 1
        skipped, depth, opened = [], 0, 0
        for offset, step in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
            if depth < inclusion_count <= depth + step:
                opened = offset
            elif depth + step < inclusion_count <= depth:
                skipped.append((opened, offset))
            depth += step
        return skipped

    def _base_classes(self) -> frozenset[str]:
        if not is_cpp(self.request.path):
            return frozenset()
        base_names = (base_classes_in(source.data) for source in self.sources.values())
        return frozenset[str]().union(*base_names)

    # -- functions ------------------------------------------------------------------------------

    def _located_functions(self) -> list[tuple[lc.Cursor, int, int, int]]:
        """Returns every function that the user's files define, including methods, as (cursor, file,
        start, end).
        """
        if self.located is None:
            self.located = []
            kinds = FUNCTIONS | CONTAINERS if is_cpp(self.request.path) else FUNCTIONS
            self._collect_functions(self._top_level(kinds), kinds, self.located)
        return self.located

    def _top_level(self, kinds: frozenset[int]) -> list[lc.Cursor]:
        """Returns the top-level functions, classes or variables, by their cursor kinds.

        The cursors are collected only once, since headers contain thousands of declarations.
        """
        if self.top_level_cursors is None:
            everything = self.lib.clang_getTranslationUnitCursor(self.handle)
            self.top_level_cursors = lc.children_of_kinds(
                everything, FUNCTIONS | CONTAINERS | {VARIABLE}
            )
        return [cursor for cursor in self.top_level_cursors if cursor.kind in kinds]

    def _collect_functions(
        self,
        cursors: Sequence[lc.Cursor],
        kinds: frozenset[int],
        located: list[tuple[lc.Cursor, int, int, int]],
    ) -> None:
        lib = self.lib
        for cursor in cursors:
            if lib.clang_Location_isInSystemHeader(lib.clang_getCursorLocation(cursor)):
                continue
            file, _, _, begin = self.place.start(cursor)
            if is_system_path(self.file_name(file)):
                continue
            if cursor.kind not in FUNCTIONS:
                self._collect_functions(lc.children_of_kinds(cursor, kinds), kinds, located)
                continue
            if not lib.clang_isCursorDefinition(cursor):
                continue
            end_file, _, _, end = self.place.end(cursor)
            located.append((cursor, file, begin, end if end_file == file else 1 << 62))

    def _functions_with_directives(
        self, directives: list[tuple[int, str, Pragma]]
    ) -> list[Function]:
        if not directives:
            return []
        offsets = self._include_offsets({file for file, _, _ in directives})
        for file, _, pragma in directives:
            offsets.setdefault(file, []).append(pragma.offset)
        with_directives = [
            cursor
            for cursor, file, begin, end in self._located_functions()
            if any(begin <= offset <= end for offset in offsets.get(file, ()))
        ]
        self.leads_to_directive = self.templates.with_all_callers(with_directives)
        functions = []
        for cursor in with_directives:
            instances = [self._instance(instance) for instance in self._instances(cursor)]
            for function in instances or [self._function(cursor)]:
                if function is not None:
                    functions.append(function)
        return functions

    def _instances(self, cursor: lc.Cursor) -> list[Instance]:
        """Returns the called instances of a template that contains a directive or may call a
        function with one. The result is empty for other functions.
        """
        if int(cursor.data0 or 0) not in self.leads_to_directive or not self.templates.is_template(
            cursor
        ):
            return []
        return self.templates.instances_of(cursor)

    def _instance(self, instance: Instance) -> Function | None:
        function = self._function(instance.cursor)
        if function is None:
            return None
        if not function.shown:
            shown = instance.caller if is_lambda_instance(function.name) else function.name
            function = function._replace(shown=shown)
            self.functions[int(instance.cursor.data0 or 0)] = function
        return function

    def _include_offsets(self, files: set[int]) -> dict[int, list[int]]:
        """Returns, per file, the offsets of `#include` lines that include `files`, directly or
        through other files.

        A function body may contain `#include "loop_template.c"`, which contains directives.
        """
        included = lc.inclusions_in_unit(self.handle)
        offsets: dict[int, list[int]] = {}
        waiting = list(files)
        seen = set(files)
        while waiting:
            file = waiting.pop()
            for inner, outer, offset in included:
                if inner == file and outer:
                    offsets.setdefault(outer, []).append(offset)
                    if outer not in seen:
                        seen.add(outer)
                        waiting.append(outer)
        return offsets

    def _function(self, cursor: lc.Cursor) -> Function | None:
        key = int(cursor.data0 or 0)
        if key not in self.functions:
            self.functions[key] = None  # for recursion
            name = instance_name(cursor) if is_cpp(self.request.path) else ""
            self.functions[key] = self.builder.function(cursor, name or lc.cursor_name(cursor))
        return self.functions[key]

    def body_of(self, decl: Decl) -> Function | None:
        """Returns the syntax tree of a function. Returns None if the user's files do not contain
        its body.
        """
        if decl not in self.known_bodies:
            self.known_bodies[decl] = self._body_of(decl)
        return self.known_bodies[decl]

    def _body_of(self, decl: Decl) -> Function | None:
        cursor = self.builder.cursor_of(decl)
        return self._function_at(cursor) if cursor is not None else None

    def _function_at(self, cursor: lc.Cursor) -> Function | None:
        if cursor.kind not in FUNCTIONS:
            return None
        definition = self.lib.clang_getCursorDefinition(cursor)
        if definition.kind not in FUNCTIONS:
            return None
        at = self.lib.clang_getCursorLocation(definition)
        if self.lib.clang_Location_isInSystemHeader(at) and not self._is_shipped(definition):
            return None
        return self._function(definition)

    def _is_shipped(self, cursor: lc.Cursor) -> bool:
        """Returns whether a header shipped with this package defines a function."""
        return self.file_name(self.place.start(cursor)[0]).startswith(SHIPPED)

    def _defined_functions(self) -> tuple[Located, ...]:
        """Returns the positions and builders of all functions that the user's files define."""
        defined = []
        for cursor, file, begin, end in self._located_functions():
            private = self.lib.clang_getCursorLinkage(cursor) == INTERNAL_LINKAGE
            builders: list[Callable[[], Function | None]] = [
                partial(self._instance, instance) for instance in self._instances(cursor)
            ]
            for build in builders or [partial(self._function, cursor)]:
                name = lc.cursor_name(cursor)
                defined.append(Located(name, file, begin, end, private, build))
        return tuple(defined)

    def variables(self) -> list[Decl]:
        """Returns the external variables of the user's files with a known initializer."""
        declarations = []
        for cursor in self._top_level(frozenset((VARIABLE,))):
            location = self.lib.clang_getCursorLocation(cursor)
            if self.lib.clang_Location_isInSystemHeader(location):
                continue
            if self.lib.clang_isCursorDefinition(cursor):
                decl = self.builder.declaration(cursor)
                if decl.symbol and decl.init is not None:
                    declarations.append(decl)
        return declarations
