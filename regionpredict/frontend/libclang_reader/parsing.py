"""Parses a file with libclang, and guesses missing include folders, macros and declarations."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.frontend.headers import (
    SHIPPED,
    Guesses,
    compiler_headers,
    guess_include,
    is_system_path,
    shorten_header_name,
)
from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.requests import (
    MOST_SOURCE_BYTES,
    SourceRequest,
    is_cpp,
    is_regular_file,
    is_special_file,
    read_regular_file,
)
from regionpredict.frontend.syntax import Lookups
from regionpredict.frontend.text import note_on_guesses
from regionpredict.ir import Diagnostic, Span

_SKIP_BODIES = 0x40
_PARSE_OPTIONS = 0x1 | 0x200  # record the ranges that `#if` skips, and continue after errors
_SEVERITY_ERROR = 3
_CRASHED = 2  # CXError_Crashed
_MISSING = re.compile(r"'([^']+)' file not found")
_INCLUDE = re.compile(
    rb'^[ \t]*#[ \t]*(?:include(?:_next)?|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE
)
_MAX_FOLDERS = 6
_MAX_RECOVERIES = 6


def libclang_arguments(request: SourceRequest) -> list[str]:
    """Returns the command-line arguments for libclang."""
    args = ["-w", "-ferror-limit=0", "-D_OPENMP=201511", "-D__malloc__(...)=__malloc__"]
    args += ["-Xclang", "-disable-pragma-debug-crash"]  # of `#pragma clang __debug crash`
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


class TranslationUnit:
    """A translation unit of libclang, the result of parsing one file.

    File handles are addresses inside the translation unit. The handles are invalid after `close`.
    """

    def __init__(
        self, request: SourceRequest, unsaved: Mapping[str, str], *, bodies: bool = True
    ) -> None:
        """Parses the file. Without `bodies`, function bodies are skipped, which takes a quarter of
        the time.
        """
        self._lib = lc.load_libclang()
        self._index = self._lib.clang_createIndex(0, 0)
        self._path = request.path
        self._names: dict[int, str] = {}
        self._errors: list[tuple[str, Span]] | None = None
        self.has_bodies = bodies
        options = _PARSE_OPTIONS if bodies else _PARSE_OPTIONS | _SKIP_BODIES
        code, self.handle = lc.parse(
            self._index, request.path, libclang_arguments(request), options, unsaved
        )
        if code or not self.handle:
            self._lib.clang_disposeIndex(self._index)
            if code == _CRASHED:
                message = "crashed the parser (nested too deeply, or too large?)"
            else:
                message = "cannot be read as C"
            raise InputError(message, remedy="is it a source file?", path=request.path)

    def close(self) -> None:
        """Frees the translation unit."""
        if self.handle:
            self._lib.clang_disposeTranslationUnit(self.handle)
            self._lib.clang_disposeIndex(self._index)
            self.handle = 0

    def file_name(self, file: int) -> str:
        """Returns the normalized path of a file handle."""
        name = self._names.get(file)
        if name is None:
            name = (
                os.path.normpath(lc.string_text(self._lib.clang_getFileName(file))) if file else ""
            )
            if name == os.path.normpath(self._path):
                name = self._path
            self._names[file] = name
        return name

    def errors(self) -> list[tuple[str, Span]]:
        """Returns the parser's error messages, each with its source position."""
        if self._errors is None:
            self._errors = self._read_errors()
        return self._errors

    def _read_errors(self) -> list[tuple[str, Span]]:
        errors = []
        place = lc.SourcePositions()
        for number in range(self._lib.clang_getNumDiagnostics(self.handle)):
            diagnostic = self._lib.clang_getDiagnostic(self.handle, number)
            if self._lib.clang_getDiagnosticSeverity(diagnostic) >= _SEVERITY_ERROR:
                location = self._lib.clang_getDiagnosticLocation(diagnostic)
                file, line, column, _ = place.read(location)
                name = self.file_name(file) if file else self._path
                message = lc.string_text(self._lib.clang_getDiagnosticSpelling(diagnostic))
                errors.append((message, Span(name, line, column)))
            self._lib.clang_disposeDiagnostic(diagnostic)
        return errors

    def missing_headers(self) -> list[tuple[str, Span]]:
        """Returns the missing headers, each with the source position of its `#include`."""
        return [
            (match.group(1), span)
            for message, span in self.errors()
            if (match := _MISSING.search(message))
        ]


class GuessingParser:
    """Parses a file repeatedly, as long as new guesses about missing parts remove errors.
    `diagnostics` lists the guesses.
    """

    def __init__(self, request: SourceRequest) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.errors: tuple[Span, ...] = ()  # positions of errors in the user's files
        self._request = request
        self._unsaved: dict[str, str] = {}
        self._read: dict[str, None] = {request.path: None}
        self._folders: dict[str, None] = {}
        self._guessed: dict[str, None] = {}

    def lookups(self) -> Lookups:
        """Returns the files, folders and headers for which the parses searched."""
        return Lookups(tuple(self._read), tuple(self._folders), tuple(self._guessed))

    def parse(self) -> TranslationUnit:
        """Parses the file, and returns the last result. Include folders are guessed first, then
        declarations.

        Raises InputError if the file cannot be read.
        """
        angle_headers = self._add_folders_of_includes()
        unit = self._parse_once(bodies=not self._needs_guessed_folder(angle_headers))
        for _ in range(_MAX_FOLDERS):
            before = self._request.includes
            self._add_guessed_folders(unit)
            if self._request.includes == before and unit.has_bodies:
                break
            unit.close()
            unit = self._parse_once()
        for header, span in unit.missing_headers():
            self._report_once(
                "RP001",
                span,
                f"header '{shorten_header_name(header)}' not found; its declarations are unknown; "
                "add its folder with -I",
            )
        if unit.errors():
            unit = self._with_declarations(unit)
        self._report_errors(unit)
        return unit

    def parse_with(self, macros: Sequence[tuple[str, str]]) -> TranslationUnit:
        """Parses the file again with definitions of `macros`, and returns the result."""
        self._report_once("RP005", Span(self._request.path, 1), note_on_guesses(macros))
        request = self._request
        self._request = replace(request, defines=(*request.defines, *macros))
        unit = self._parse_once()
        previous_errors = set(self.errors)
        self.diagnostics = [
            diagnostic
            for diagnostic in self.diagnostics
            if diagnostic.id != "RP002" or diagnostic.span not in previous_errors
        ]
        self._report_errors(unit)
        return unit

    def _parse_once(self, *, bodies: bool = True) -> TranslationUnit:
        unit = TranslationUnit(self._request, self._unsaved, bodies=bodies)
        self._folders.update(dict.fromkeys(self._request.includes))
        self._read.update(dict.fromkeys(lc.included_files(unit.handle)))
        return unit

    def _guess_header(self, header: str) -> str | None:
        self._guessed[header] = None
        return guess_include(header, self._request)

    def _add_folders_of_includes(self) -> set[str]:
        """Adds include folders for missing headers, also of other headers. Returns the remaining
        missing headers in angle brackets.

        A second parse is then unnecessary if `common.h` is in a neighboring folder. An included
        pipe or device is read as an empty file, since it would block the parser.
        """
        angle_headers: set[str] = set()
        request = self._request
        for word, value in zip(request.extra, request.extra[1:], strict=False):
            if word in ("-include", "-imacros"):
                self._read_as_empty(value, Span(request.path, 1))
        known = [Path(request.path).parent, *(Path(folder) for folder in request.includes)]
        waiting, seen = [Path(request.path)], {Path(request.path)}
        while waiting:
            file = waiting.pop()
            text = _header_text(file)
            for header, quoted, start in _includes_in(text):
                for folder in (file.parent, *known):
                    if is_special_file(folder / header):
                        line = text.count(b"\n", 0, start) + 1
                        self._read_as_empty(str(folder / header), Span(str(file), line))
                        # libclang constructs the name, which is ./pipe.h in the current folder.
                        for base in (str(folder), os.path.join(".", folder)):  # noqa: PTH118
                            self._unsaved[f"{base}/{header}"] = ""
                if not quoted:
                    angle_headers.add(header)
                if not quoted or request.extra:
                    continue
                folder_found = next(
                    (f for f in (file.parent, *known) if is_regular_file(f / header)), None
                )
                if folder_found is None:
                    guessed = self._guess_header(header)
                    if guessed is None:
                        continue
                    folder_found = Path(guessed)
                    known.append(folder_found)
                    self._add_folder(guessed)
                if folder_found / header not in seen:
                    seen.add(folder_found / header)
                    self._read[str(folder_found / header)] = None
                    waiting.append(folder_found / header)
        return {
            header for header in angle_headers
            if not any(is_regular_file(folder / header) for folder in known)
        }  # fmt: skip

    def _needs_guessed_folder(self, angle_headers: Collection[str]) -> bool:
        """Returns whether the folder of a C++ header in angle brackets probably has to be guessed.
        If so, a first parse without function bodies saves time.
        """
        if not is_cpp(self._request.path) or self._request.extra:
            return False  # C parses fast, and extra options may contain include folders
        own = (header for header in angle_headers if "/" in header or "." in header)
        return any(guess_include(header, self._request) is not None for header in own)

    def _read_as_empty(self, path: str, span: Span) -> None:
        if is_special_file(path) and path not in self._unsaved:
            self._unsaved[path] = self._unsaved[os.path.join(".", path)] = ""  # noqa: PTH118
            what = f"not a regular file of at most {MOST_SOURCE_BYTES >> 20} MiB"
            self._report_once(
                "RP001", span, f"header '{shorten_header_name(path)}' is {what}; ignored"
            )

    def _add_folder(self, folder: str) -> None:
        shown = os.path.relpath(folder)
        message = f"include folder guessed; pass -I {shown} to confirm it"
        self._report_once("RP003", Span(self._request.path, 1), message)
        self._request = replace(self._request, includes=(*self._request.includes, folder))

    def _add_guessed_folders(self, unit: TranslationUnit) -> None:
        """Adds include folders for all missing headers of a parse at once, since parsing takes
        long.
        """
        before = len(self._request.includes)
        for header, _ in unit.missing_headers():
            added = self._request.includes[before:]
            if any(is_regular_file(Path(folder) / header) for folder in added):
                continue
            folder = self._guess_header(header)
            if folder is not None and folder not in self._request.includes:
                self._add_folder(folder)

    def _with_declarations(self, unit: TranslationUnit) -> TranslationUnit:
        guesses = Guesses()
        for _ in range(_MAX_RECOVERIES):
            errors = [(m, s) for m, s in unit.errors() if not is_system_path(s.file)]
            if not guesses.add_from_errors(errors, cpp=is_cpp(self._request.path)):
                break
            self._unsaved[lc.PRELUDE] = guesses.declarations_text()
            unit.close()
            unit = self._parse_once()
        if guesses.names:
            names = ", ".join(guesses.names[:5]) + (", ..." if len(guesses.names) > 5 else "")
            self._report_once(
                "RP005",
                Span(self._request.path, 1),
                f"declarations guessed for names from missing headers: {names}",
            )
        return unit

    def _report_errors(self, unit: TranslationUnit) -> None:
        missing = {span for _, span in unit.missing_headers()}  # already reported
        errors = [(message, span) for message, span in unit.errors() if span not in missing]
        self.errors = tuple(span for _, span in errors if not is_system_path(span.file))
        if self.errors:
            message, span = next(e for e in errors if e[1] == self.errors[0])
            more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
            self._report_once("RP002", span, f"syntax error: {message}{more}; the rest was read")

    def _report_once(self, rule: str, span: Span, message: str) -> None:
        self.diagnostics.append(Diagnostic(rule, span, message))


@lru_cache(maxsize=64)  # many files include the same headers
def _includes_in(text: bytes) -> list[tuple[str, bool, int]]:
    """Returns (name, is in quotes, offset) for each `#include` in a text."""
    return [
        (os.fsdecode(match.group(1) or match.group(2)), match.group(1) is not None, match.start())
        for match in _INCLUDE.finditer(text)
    ]


def _header_text(header: Path) -> bytes:
    """Returns the text of a header. The result is empty if the file cannot be read."""
    try:
        return read_regular_file(str(header))
    except InputError:
        return b""
