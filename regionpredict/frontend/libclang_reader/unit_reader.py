"""The front end on libclang: a source file -> `Unit`.

The file is parsed without `-fopenmp`, since libclang hides the loop below a directive it knows;
directives come from the text (`pragmas`) and are attached to the statements that follow them.
Only functions that hold a directive become trees; others follow on demand.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.frontend.headers import (
    SHIPPED,
    Guesses,
    compiler_headers,
    guess_include,
    has_system_headers,
    is_system_path,
)
from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import CONTAINERS, FUNCTIONS
from regionpredict.frontend.libclang_reader.statements import TreeBuilder
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.requests import (
    SourceRequest,
    is_cpp,
)
from regionpredict.frontend.syntax import (
    CallIndex,
    Decl,
    Function,
    Lookups,
    Pragma,
    Unit,
)
from regionpredict.frontend.text import (
    MacroTable,
    Masked,
    SourceText,
    blank_ranges,
    called_at,
    find_pragmas,
    holding,
    masked,
    may_hold_directives,
    written_at,
)
from regionpredict.ir import Diagnostic, Span

_PARSE_OPTIONS = 0x1 | 0x200  # keep a preprocessing record (skipped ranges); go on after errors
_SEVERITY_ERROR = 3
_MISSING = re.compile(r"'([^']+)' file not found")
_QUOTED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MAX_FOLDERS = 6
_MAX_RECOVERIES = 6


def parse_unit(request: SourceRequest) -> Unit:
    """Parses one file; raises InputError where the file cannot be read at all."""
    if not Path(request.path).is_file():
        raise InputError("cannot be read", remedy="check that it is there", path=request.path)
    try:
        with Path(request.path).open("rb"):
            pass
    except OSError as error:
        raise InputError(
            "cannot be read", remedy=str(error.strerror or error), path=request.path
        ) from error
    return _Reader(request).unit()


def _bytes_of(header: Path) -> bytes:
    """A header's text; nothing where it may not be read, which the parser then says."""
    try:
        return header.read_bytes()
    except OSError:
        return b""


def arguments(request: SourceRequest) -> list[str]:
    """What the parser is called with."""
    args = ["-w", "-ferror-limit=0", "-D_OPENMP=201511", "-D__malloc__(...)=__malloc__"]
    if is_cpp(request.path):
        args += ["-x", "c++", f"-std={request.standard or 'gnu++17'}"]
    else:
        args += ["-x", "c", f"-std={request.standard or 'gnu11'}"]
        args += ["-Wno-implicit-function-declaration", "-Wno-int-conversion"]
    args += [f"-D{name}={value}" for name, value in request.defines]
    args += [f"-I{folder}" for folder in request.includes]
    args += list(request.extra)
    if is_cpp(request.path):
        for newest in sorted(Path("/usr/include/c++").glob("*"))[-1:]:
            args += ["-isystem", str(newest)]
            args += [f"-isystem{p}" for p in Path("/usr/include").glob(f"*/c++/{newest.name}")]
    for folder in (*compiler_headers(), SHIPPED):
        args += ["-idirafter", folder]
    return args


class _Reader:
    """The state of one parse; the translation unit lives as long as the `Unit`."""

    def __init__(self, request: SourceRequest) -> None:
        self.request = request
        self.lib = lc.library()
        self.index = self.lib.clang_createIndex(0, 0)
        self.names: dict[int, str] = {}
        self.diagnostics: list[Diagnostic] = []
        self.errors: tuple[Span, ...] = ()
        self.sources: dict[int, SourceText] = {}
        self.active: dict[int, Masked] = {}
        self.read: dict[str, None] = {request.path: None}
        self.folders: dict[str, None] = {}
        self.guessed: dict[str, None] = {}
        self.handle = self._parse_with_guesses()
        self.macros = MacroTable()
        self.place = lc.Place()
        self.builder = TreeBuilder(TypeReader(), self.file_name)
        self.functions: dict[int, Function | None] = {}
        self.known_bodies: dict[Decl, Function | None] = {}
        self.known_writes: dict[Decl, int] = {}
        self.all_bodies: list[Function] | None = None
        self.located: list[tuple[lc.Cursor, int, int, int]] | None = None

    # -- parsing --------------------------------------------------------------------------------

    def _parse(self, request: SourceRequest, prelude: str = "") -> int:
        code, handle = lc.parse(
            self.index, request.path, arguments(request), _PARSE_OPTIONS, prelude
        )
        if code or not handle:
            raise InputError(
                "cannot be read as C", remedy="is it a source file?", path=request.path
            )
        self.folders.update(dict.fromkeys(request.includes))
        self.read.update(dict.fromkeys(lc.files_of(handle)))
        return handle

    def _parse_with_guesses(self) -> int:
        """Parses; adds guessed include folders, then guessed declarations, while they help."""
        request = self._with_neighbours(self.request)
        handle = self._parse(request)
        for _ in range(_MAX_FOLDERS):
            folder = self._guessed_folder(handle, request)
            if folder is None:
                break
            self._say_guessed(folder)
            request = replace(request, includes=(*request.includes, folder))
            self.lib.clang_disposeTranslationUnit(handle)
            handle = self._parse(request)
        missing = self._missing_headers(handle)
        for header, span in missing:
            self._say(
                "RP001",
                span,
                f"header '{header}' not found: what it declares is unknown; add its folder with -I",
            )
        if not is_cpp(request.path) and self._errors(handle):
            handle = self._recover(handle, request)
        self._note_errors(handle)
        return handle

    def _with_neighbours(self, request: SourceRequest) -> SourceRequest:
        """The request with folders for the headers that the file, or one of them, names and misses.

        Saves a second parse where `#include "common.h"` lies in a neighbouring folder.
        """
        if request.extra:
            return request
        known = [Path(request.path).parent, *(Path(folder) for folder in request.includes)]
        waiting, seen = [Path(request.path)], {Path(request.path)}
        while waiting:
            for name in _QUOTED.findall(_bytes_of(waiting.pop())):
                header = name.decode("utf-8", "replace")
                found = next((f for f in known if (f / header).is_file()), None)
                if found is None:
                    folder = self._guess(header, request)
                    if folder is None:
                        continue
                    self._say_guessed(folder)
                    found = Path(folder)
                    known.append(found)
                    request = replace(request, includes=(*request.includes, folder))
                if found / header not in seen:
                    seen.add(found / header)
                    self.read[str(found / header)] = None
                    waiting.append(found / header)
        return request

    def _guess(self, header: str, request: SourceRequest) -> str | None:
        self.guessed[header] = None
        return guess_include(header, request.path, request.root)

    def _say_guessed(self, folder: str) -> None:
        shown = os.path.relpath(folder)
        message = f"include folder guessed: {shown}; pass -I {shown} to be sure"
        self._say("RP003", Span(self.request.path, 1), message)

    def _guessed_folder(self, handle: int, request: SourceRequest) -> str | None:
        for header, _ in self._missing_headers(handle):
            folder = self._guess(header, request)
            if folder is not None and folder not in request.includes:
                return folder
        return None

    def _recover(self, handle: int, request: SourceRequest) -> int:
        guesses = Guesses()
        for _ in range(_MAX_RECOVERIES):
            errors = [(m, s) for m, s in self._errors(handle) if not is_system_path(s.file)]
            if not guesses.learn(errors):
                break
            self.lib.clang_disposeTranslationUnit(handle)
            handle = self._parse(request, guesses.prelude())
        if guesses.names:
            names = ", ".join(guesses.names[:5]) + (", ..." if len(guesses.names) > 5 else "")
            self._say(
                "RP005",
                Span(request.path, 1),
                f"declarations guessed for names from missing headers: {names}",
            )
        return handle

    def _say(self, rule: str, span: Span, message: str) -> None:
        self.diagnostics.append(Diagnostic(rule, span, message))

    def _errors(self, handle: int) -> list[tuple[str, Span]]:
        found = []
        place = lc.Place()
        for number in range(self.lib.clang_getNumDiagnostics(handle)):
            diagnostic = self.lib.clang_getDiagnostic(handle, number)
            if self.lib.clang_getDiagnosticSeverity(diagnostic) >= _SEVERITY_ERROR:
                file, line, column, _ = place.read(self.lib.clang_getDiagnosticLocation(diagnostic))
                name = self.file_name(file) if file else self.request.path
                message = lc.text(self.lib.clang_getDiagnosticSpelling(diagnostic))
                found.append((message, Span(name, line, column)))
            self.lib.clang_disposeDiagnostic(diagnostic)
        return found

    def _missing_headers(self, handle: int) -> list[tuple[str, Span]]:
        return [
            (match.group(1), span)
            for message, span in self._errors(handle)
            if (match := _MISSING.search(message))
        ]

    def _note_errors(self, handle: int) -> None:
        errors = [(m, s) for m, s in self._errors(handle) if not _MISSING.search(m)]
        self.errors = tuple(span for _, span in errors if not is_system_path(span.file))
        if self.errors:
            message, span = next(e for e in errors if e[1] == self.errors[0])
            more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
            self._say("RP002", span, f"the parser says: {message}{more}; the rest was read")

    def file_name(self, file: int) -> str:
        """The path of a file handle, normalised."""
        name = self.names.get(file)
        if name is None:
            name = os.path.normpath(lc.text(self.lib.clang_getFileName(file))) if file else ""
            if name == os.path.normpath(self.request.path):
                name = self.request.path
            self.names[file] = name
        return name

    # -- the unit -------------------------------------------------------------------------------

    def unit(self) -> Unit:
        """Reads directives, the functions around them, and closes over the rest."""
        user_files = self._user_files()
        self._read_macros(user_files)
        directives = self._read_directives(user_files)
        functions = self._functions_with(directives)
        return Unit(
            path=self.request.path,
            functions=tuple(functions),
            body_of=self.body_of,
            calls_of=CallIndex(self._functions_calling).of,
            directives=tuple((name, p) for _, name, p in directives if p.is_loop),
            diagnostics=tuple(self.diagnostics),
            files=tuple(self.file_name(file) for file in user_files),
            macros=self.macros.constants,
            lookups=Lookups(tuple(self.read), tuple(self.folders), tuple(self.guessed)),
            writes_of=self.writes_of,
            bodies=self.bodies,
            errors=self.errors,
            headers="system" if has_system_headers() else "shipped",
            close=self.close,
        )

    def close(self) -> None:
        """Frees the translation unit."""
        if self.handle:
            self.lib.clang_disposeTranslationUnit(self.handle)
            self.lib.clang_disposeIndex(self.index)
            self.handle = 0

    def _user_files(self) -> list[int]:
        found = []
        for file, _, _ in lc.inclusions(self.handle):
            name = self.file_name(file)
            if file and name != lc.PRELUDE and not is_system_path(name) and file not in found:
                found.append(file)
        return found

    def _read_macros(self, files: list[int]) -> None:
        for file in files:
            try:
                data = Path(self.file_name(file)).read_bytes()
            except OSError:
                continue
            self.sources[file] = SourceText(self.file_name(file), data)
            if b"define" in data:
                self.macros.add_text(self._active(file, data).code)
        for name, value in self.request.defines:
            self.macros.add(name, value)

    def _read_directives(self, files: list[int]) -> list[tuple[int, str, Pragma]]:
        found: list[tuple[int, str, Pragma]] = []
        for file in files:
            source = self.sources.get(file)
            if source is None or not may_hold_directives(source.data, self.macros):
                continue
            pragmas = find_pragmas(source, self.macros, self._active(file, source.data))
            if pragmas:
                self.builder.set_pragmas(file, pragmas)
                found.extend((file, source.path, pragma) for pragma in pragmas)
        return found

    def _active(self, file: int, data: bytes) -> Masked:
        """What the compiler reads of a file."""
        text = self.active.get(file)
        if text is None:
            text = self.active[file] = masked(blank_ranges(data, self._skipped(file)))
        return text

    def _skipped(self, file: int) -> list[tuple[int, int]]:
        """The ranges of a file that a false `#if` left out every time the file was included."""
        ranges = self.lib.clang_getSkippedRanges(self.handle, file)
        edges: list[tuple[int, int]] = []
        place = lc.Place()
        for number in range(ranges.contents.count):
            one = ranges.contents.ranges[number]
            begin = place.read(lc.Location(one.ptr0, one.ptr1, one.begin))[3]
            end = place.read(lc.Location(one.ptr0, one.ptr1, one.end))[3]
            edges += [(begin, 1), (end, -1)]
        self.lib.clang_disposeSourceRangeList(ranges)
        times = sum(inner == file for inner, _, _ in lc.inclusions(self.handle)) if edges else 1
        found, depth, opened = [], 0, 0
        for offset, step in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
            if depth < times <= depth + step:
                opened = offset
            elif depth + step < times <= depth:
                found.append((opened, offset))
            depth += step
        return found

    # -- functions ------------------------------------------------------------------------------

    def _located(self) -> list[tuple[lc.Cursor, int, int, int]]:
        """Every function of the user's files: (cursor, file, begin, end), nested ones included."""
        if self.located is None:
            self.located = []
            kinds = FUNCTIONS | CONTAINERS if is_cpp(self.request.path) else FUNCTIONS
            self._locate(self.lib.clang_getTranslationUnitCursor(self.handle), kinds, self.located)
        return self.located

    def _locate(
        self,
        within: lc.Cursor,
        kinds: frozenset[int],
        found: list[tuple[lc.Cursor, int, int, int]],
    ) -> None:
        lib = self.lib
        for cursor in lc.children(within, kinds):
            if lib.clang_Location_isInSystemHeader(lib.clang_getCursorLocation(cursor)):
                continue
            file, _, _, begin = self.place.start(cursor)
            if is_system_path(self.file_name(file)):
                continue
            if cursor.kind not in FUNCTIONS:
                self._locate(cursor, kinds, found)
                continue
            end_file, _, _, end = self.place.end(cursor)
            found.append((cursor, file, begin, end if end_file == file else 1 << 62))

    def _functions_with(self, directives: list[tuple[int, str, Pragma]]) -> list[Function]:
        if not directives:
            return []
        offsets = self._places_of({file for file, _, _ in directives})
        for file, _, pragma in directives:
            offsets.setdefault(file, []).append(pragma.offset)
        found = []
        for cursor, file, begin, end in self._located():
            inside = any(begin <= offset <= end for offset in offsets.get(file, ()))
            if inside and (function := self._function(cursor)) is not None:
                found.append(function)
        return found

    def _places_of(self, files: set[int]) -> dict[int, list[int]]:
        """Where the files are included, as offsets by including file, through all levels.

        A function body may hold `#include "loop_template.c"`: its directives stand in that file.
        """
        included = lc.inclusions(self.handle)
        places: dict[int, list[int]] = {}
        waiting = list(files)
        seen = set(files)
        while waiting:
            file = waiting.pop()
            for inner, outer, offset in included:
                if inner == file and outer:
                    places.setdefault(outer, []).append(offset)
                    if outer not in seen:
                        seen.add(outer)
                        waiting.append(outer)
        return places

    def _function(self, cursor: lc.Cursor) -> Function | None:
        key = int(cursor.data0 or 0)
        if key not in self.functions:
            self.functions[key] = self.builder.function(cursor, lc.spelling(cursor))
        return self.functions[key]

    def body_of(self, decl: Decl) -> Function | None:
        """The tree of a function with a body in the user's files, or None."""
        if decl not in self.known_bodies:
            self.known_bodies[decl] = self._body_of(decl)
        return self.known_bodies[decl]

    def _body_of(self, decl: Decl) -> Function | None:
        cursor = self.builder.cursor_of(decl)
        if cursor is None or cursor.kind not in FUNCTIONS:
            return None
        definition = self.lib.clang_getCursorDefinition(cursor)
        if definition.kind not in FUNCTIONS:
            return None
        if self.lib.clang_Location_isInSystemHeader(self.lib.clang_getCursorLocation(definition)):
            return None
        return self._function(definition)

    def bodies(self) -> list[Function]:
        """Every function of the user's files that has a body."""
        if self.all_bodies is None:
            found = (self._function(cursor) for cursor, _, _, _ in self._located())
            self.all_bodies = [function for function in found if function is not None]
        return self.all_bodies

    def writes_of(self, decl: Decl) -> int:
        """How many functions of the user's files may set a global variable."""
        if decl not in self.known_writes:
            found = {f: written_at(source.data, decl.name) for f, source in self.sources.items()}
            self.known_writes[decl] = len(holding(self._located(), found))
        return self.known_writes[decl]

    def _functions_calling(self, name: str) -> list[Function]:
        calls = {file: called_at(source.data, name) for file, source in self.sources.items()}
        found = (self._function(cursor) for cursor in holding(self._located(), calls))
        return [function for function in found if function is not None]
