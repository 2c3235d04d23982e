"""Preprocesses C files for pycparser. The preprocessor extends pcpp with source positions and
faster macros.

For the C library, it uses only the headers shipped with this package, because pycparser cannot read
system headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pcpp

from regionpredict.errors import InputError
from regionpredict.frontend.headers import (
    SHIPPED,
    guess_include,
    is_system_path,
    shorten_header_name,
)
from regionpredict.frontend.pycparser_reader.tokens import SPACE, Spot, Token, lines_of
from regionpredict.frontend.requests import SourceRequest, is_regular_file, read_regular_file
from regionpredict.frontend.syntax import Lookups
from regionpredict.frontend.text import (
    blank_comments,
)
from regionpredict.ir import Diagnostic, Span

_MAX_GUESSES = 6
_MAX_DEPTH = 100
_MAX_EXPANDED = 500_000  # maximum number of tokens from macros, which take a few seconds
_SYSTEM_FOLDERS = ("/usr/include", "/usr/local/include")
_BOM = b"\xef\xbb\xbf"

# The macros that libclang predefines on x86-64 Linux and that programs test.
_PREDEFINED = """
_OPENMP 201511
__STDC__ 1
__STDC_HOSTED__ 1
__GNUC__ 4
__GNUC_MINOR__ 2
__GNUC_PATCHLEVEL__ 1
__clang__ 1
__clang_major__ 18
__clang_minor__ 1
__clang_patchlevel__ 1
__linux__ 1
__linux 1
linux 1
__gnu_linux__ 1
__unix__ 1
__unix 1
unix 1
__ELF__ 1
__x86_64__ 1
__x86_64 1
__amd64__ 1
__amd64 1
__SSE__ 1
__SSE2__ 1
__SSE_MATH__ 1
__SSE2_MATH__ 1
__MMX__ 1
__LP64__ 1
_LP64 1
__CHAR_BIT__ 8
__ATOMIC_RELAXED 0
__ATOMIC_CONSUME 1
__ATOMIC_ACQUIRE 2
__ATOMIC_RELEASE 3
__ATOMIC_ACQ_REL 4
__ATOMIC_SEQ_CST 5
__SIZEOF_SHORT__ 2
__SIZEOF_INT__ 4
__SIZEOF_LONG__ 8
__SIZEOF_LONG_LONG__ 8
__SIZEOF_POINTER__ 8
__SIZEOF_SIZE_T__ 8
__SIZEOF_PTRDIFF_T__ 8
__SIZEOF_FLOAT__ 4
__SIZEOF_DOUBLE__ 8
__SIZEOF_LONG_DOUBLE__ 16
__SIZEOF_INT128__ 16
__SCHAR_MAX__ 127
__SHRT_MAX__ 32767
__INT_MAX__ 2147483647
__LONG_MAX__ 9223372036854775807L
__LONG_LONG_MAX__ 9223372036854775807LL
__SIZE_MAX__ 18446744073709551615UL
__SIZE_TYPE__ long unsigned int
__PTRDIFF_TYPE__ long int
__WCHAR_TYPE__ int
__INT8_TYPE__ signed char
__INT16_TYPE__ short
__INT32_TYPE__ int
__INT64_TYPE__ long int
__UINT8_TYPE__ unsigned char
__UINT16_TYPE__ unsigned short
__UINT32_TYPE__ unsigned int
__UINT64_TYPE__ long unsigned int
__INTPTR_TYPE__ long int
__UINTPTR_TYPE__ long unsigned int
__FLT_EPSILON__ 1.19209290e-7F
__DBL_EPSILON__ 2.2204460492503131e-16
__FLT_MAX__ 3.40282347e+38F
__DBL_MAX__ 1.7976931348623157e+308
__FLT_MIN__ 1.17549435e-38F
__DBL_MIN__ 2.2250738585072014e-308
__DBL_DIG__ 15
__FLT_DIG__ 6
__ORDER_LITTLE_ENDIAN__ 1234
__ORDER_BIG_ENDIAN__ 4321
__BYTE_ORDER__ 1234
__VERSION__ "4.2.1 compatible"
__USER_LABEL_PREFIX__
"""
_GUARD = re.compile(rb"\s*#[ \t]*ifndef[ \t]+(\w+)[ \t\r]*\n\s*#[ \t]*define[ \t]+\1\b")
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|else|elif|endif)\b", re.MULTILINE)
_STANDARDS = {"89": "", "90": "", "99": "199901L", "17": "201710L", "18": "201710L"}


@dataclass(slots=True)
class Preprocessed:
    """The preprocessed tokens of a translation unit, and the contents of the user's files, in
    order.

    `pragmas` and `defines` are the positions of active pragmas and macro definitions: the file, and
    the offset of the `#` or of the macro's name.
    """

    tokens: list[Token]
    files: dict[str, bytes]
    lookups: Lookups
    pragmas: set[tuple[str, int]] = field(default_factory=set)
    defines: set[tuple[str, int]] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def preprocess(request: SourceRequest) -> Preprocessed:
    """Preprocesses a C file. Raises InputError if it cannot be read."""
    data = read_regular_file(request.path)
    run = _Preprocessor(request)
    try:
        tokens = [token for token in run.run(data) if token.type != SPACE]
    except (IndexError, KeyError, ValueError, AttributeError, RecursionError) as error:
        line = run.line
        raise InputError(
            "cannot be preprocessed", remedy="is it a C source file?", path=request.path, line=line
        ) from error
    asked = Lookups(tuple(run.opened), (*run.quoted, *run.folders), tuple(run.missed))
    return Preprocessed(tokens, run.files, asked, run.active, run.defined, run.diagnostics)


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """A pcpp preprocessor with source positions, the header search of compilers, and
    diagnostics.
    """

    lexer: Any  # pcpp's own

    def __init__(self, request: SourceRequest) -> None:
        self.defined: set[tuple[str, int]] = set()
        super().__init__()
        self.request = request
        self.files: dict[str, bytes] = {}
        self.active: set[tuple[str, int]] = set()
        self.diagnostics: list[Diagnostic] = []
        self.guessed: list[str] = []
        self.opened: dict[str, None] = {request.path: None}
        self.missed: dict[str, None] = {}
        self.line = 1
        self.expanded = 0  # number of tokens from macros
        self.text = ""
        self.rewrite_paths: list[Any] = []
        self.auto_pragma_once_enabled = False  # it misdetects include guards
        self.guards: dict[str, str] = {}
        self.folders, self.quoted, self.forced, dropped = _options(request)
        self.folders += [SHIPPED]
        self._define_all(dropped)

    def _define_all(self, dropped: set[str]) -> None:
        for line in _PREDEFINED.strip().splitlines():
            name, _, value = line.partition(" ")
            if name not in dropped:
                self._define(name, value)
        version = _STANDARDS.get(self.request.standard[-2:], "201112L")
        if version:
            self._define("__STDC_VERSION__", version)
        if not self.request.standard.startswith("c"):
            return self._user_defines()
        for name in ("linux", "unix"):
            self.macros.pop(name, None)
        self._define("__STRICT_ANSI__", "1")
        return self._user_defines()

    def _user_defines(self) -> None:
        for name, value in self.request.defines:
            self._define(name, value)

    def _define(self, name: str, value: str) -> None:
        self.define(f"{name} {value}" if value else name)

    def define(self, tokens: str | list[Token]) -> None:
        """Defines a macro, and records the position of its definition."""
        super().define(tokens)
        if not isinstance(tokens, str) and tokens and tokens[0].source is not None:
            self.defined.add((tokens[0].source.file, tokens[0].source.offset))

    # -- interface of pcpp ----------------------------------------------------------------------

    def run(self, data: bytes) -> Iterator[Token]:
        """Yields the expanded tokens of the main file and of all included files."""
        for name in self.forced:
            spot = Spot(self.request.path, 1, 0, 0)
            yield from self._read(name, spot, quoted=True)
        yield from self._file(self.request.path, data)

    def _file(self, path: str, data: bytes) -> Iterator[Token]:
        self.opened[path] = None
        if not is_system_path(path):
            self.files.setdefault(path, data)
        if data.startswith(_BOM):
            data = b"   " + data[3:]
        self.text = data.decode("latin-1")
        if path not in self.guards:
            self.guards[path] = _include_guard(data)
        yield from self.parsegen("", path, path)

    def group_lines(self, input: str, abssource: str) -> Iterator[list[Token]]:
        """Yields the tokens of each line, without pcpp's lexer."""
        for line in lines_of(self.text, abssource):
            self.line = line[0].lineno
            yield line

    def tokenize(self, text: str) -> list[Token]:
        """Returns the tokens of a text without line breaks, such as a macro definition."""
        # The lexer keeps spaces only after a `#`, which is removed here with the newline.
        (line,) = lines_of("#" + text, "") if "\n" not in text else ([],)
        return [token for token in line[1:] if token.value != "\n"]

    def include(self, tokens: list[Token], original_line: list[Token]) -> Iterator[Token]:
        """Yields the tokens of an included header, or reports that it is missing."""
        text = "".join(token.value for token in tokens)
        if len(text) < 3 or not tokens:
            return
        quoted = text[0] == '"'
        end = text.find('"' if quoted else ">", 1)
        spot = next((t.source for t in tokens if t.source is not None), None)
        if end < 0 or text[0] not in '"<' or spot is None:
            return
        yield from self._read(text[1:end].strip(), spot, quoted=quoted)

    def _read(self, name: str, spot: Spot, *, quoted: bool) -> Iterator[Token]:
        path = self._locate(name, spot.file, quoted=quoted) or self._guess(name, spot.file)
        if path is None:
            message = (
                f"header '{shorten_header_name(name)}' not found; its declarations are unknown; "
                "add its folder with -I"
            )
            self.diagnostics.append(
                Diagnostic("RP001", Span(spot.file, spot.line, spot.column), message)
            )
            return
        if self.include_depth > _MAX_DEPTH or self._read_already(path):
            return
        data = self.files.get(path)
        yield from self._file(path, read_regular_file(path) if data is None else data)

    def _read_already(self, path: str) -> bool:
        return path in self.include_once or self.guards.get(path, "") in self.macros

    def _locate(self, name: str, includer: str, *, quoted: bool) -> str | None:
        first = [str(Path(includer).parent), *self.quoted] if quoted else []
        for folder in (*first, *self.folders):
            path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 (may be absolute)
            if is_regular_file(path):
                same = os.path.normpath(self.request.path)
                return self.request.path if path == same else path
        return None

    def _guess(self, name: str, includer: str) -> str | None:
        if len(self.guessed) >= _MAX_GUESSES:
            return None
        self.missed[name] = None
        folder = guess_include(name, self.request)
        if folder is None or folder in self.guessed:
            return None
        self.guessed.append(folder)
        self.folders.insert(len(self.folders) - 1, folder)
        shown = os.path.relpath(folder)
        self.diagnostics.append(
            Diagnostic(
                "RP003",
                Span(self.request.path, 1),
                f"include folder guessed; pass -I {shown} to confirm it",
            )
        )
        return self._locate(name, includer, quoted=False)

    # -- macros ---------------------------------------------------------------------------------

    def expand_macros(self, tokens: list[Token], expanding_from: Iterable[str] = ()) -> list[Token]:
        """Returns the tokens with all macros expanded, in linear time.

        Each token stores the macros from which it was expanded (Prosser's algorithm, the basis of
        the C standard). Tokens from a macro have the source position of its name.
        """
        waiting = tokens[::-1]
        out: list[Token] = []
        macros = self.macros
        while waiting:
            token = waiting.pop()
            name = token.value
            if token.type != "CPP_ID":
                out.append(token)
            elif name in ("__LINE__", "__COUNTER__"):
                out.append(self._line_or_counter(token))
            elif name not in macros or name in token.hidden:
                out.append(token)
            else:
                expansion = self._expand(token, macros[name], waiting)
                if expansion is None:
                    out.append(token)
                else:
                    self._check_expanded(len(expansion))
                    waiting.extend(reversed(expansion))
        return out

    def _check_expanded(self, tokens: int) -> None:
        self.expanded += tokens
        if self.expanded > _MAX_EXPANDED:
            raise InputError(
                f"its macros expand to more than {_MAX_EXPANDED} tokens",
                remedy="try --frontend libclang", path=self.request.path, line=self.line,
            )  # fmt: skip

    def _line_or_counter(self, token: Token) -> Token:
        number = token.lineno
        if token.value == "__COUNTER__":
            number = self.countermacro
            self.countermacro += 1
        return Token("CPP_INTEGER", str(number), token.source)

    def _expand(self, token: Token, macro: Any, waiting: list[Token]) -> list[Token] | None:
        hidden = token.hidden | {token.value}
        if macro.arglist is None:
            return [Token(t.type, t.value, token.source, t.hidden | hidden) for t in macro.value]
        call = _read_arguments(waiting)
        if call is None:
            return None
        count, arguments, closing = call
        fitted = _checked_arguments(macro, arguments)
        if fitted is None:
            spot = token.source
            self.on_error(spot, token.lineno, f"macro {token.value} has other arguments")
            return None
        del waiting[-count:]
        hidden = (token.hidden & closing.hidden) | {token.value}
        if macro.str_patch:
            fitted = [_with_spaces(argument) for argument in fitted]
        own, self.lexer = self.lexer, _PastedLexer(self)
        expansion = self.macro_expand_args(macro, fitted)
        self.lexer = own
        return [Token(t.type, t.value, token.source, t.hidden | hidden) for t in expansion]

    # -- hooks of pcpp --------------------------------------------------------------------------

    def on_directive_handle(
        self, directive: Token, toks: list[Token], ifpassthru: bool, precedingtoks: list[Token]
    ) -> bool:
        """Lets pcpp process all directives except an empty `#pragma`."""
        if directive.value == "pragma" and not toks:
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        return True

    def on_directive_unknown(
        self, directive: Token, toks: list[Token], ifpassthru: bool, precedingtoks: list[Token]
    ) -> bool:
        """Records an active pragma or `#error`, which the parser does not receive."""
        spot = precedingtoks[0].source if precedingtoks else directive.source
        if spot is None:
            return True
        if directive.value == "pragma":
            self.active.add((spot.file, spot.offset))
        elif directive.value == "error" and not is_system_path(spot.file):
            text = "".join(token.value for token in toks).strip()
            self._record_error(spot, f"#error {text}")
        return True

    def on_error(self, file: object, line: int, msg: str) -> None:
        """Records an error message of pcpp as a diagnostic."""
        if isinstance(file, Spot) and not is_system_path(file.file):
            self._record_error(file, msg[:1].lower() + msg[1:].split(" (passed", maxsplit=1)[0])

    def _record_error(self, spot: Spot, message: str) -> None:
        span = Span(spot.file, spot.line, spot.column)
        self.diagnostics.append(
            Diagnostic("RP002", span, f"preprocessor error: {message}; the rest was read")
        )


class _PastedLexer:
    """A lexer for tokens that `##` creates, which reads `0.5F` as one number."""

    def __init__(self, run: _Preprocessor) -> None:
        self._run = run
        self._left: list[Token] = []

    def clone(self) -> _PastedLexer:
        return _PastedLexer(self._run)

    def input(self, text: str) -> None:
        self._left = self._run.tokenize(text)

    def token(self) -> Token | None:
        return self._left.pop(0) if self._left else None


def _include_guard(data: bytes) -> str:
    """Returns the macro of a header's include guard, or ""."""
    if b"#ifndef" not in data[:20_000] and b"ifndef" not in data[:20_000]:
        return ""
    text = blank_comments(data)
    match = _GUARD.match(text)
    if not match:
        return ""
    depth = 0
    last = match.start(1)
    for line in _CONDITIONAL.finditer(text):
        if depth == 0 and line.start() > match.start(1):
            return ""
        word = line.group(1)
        depth += word.startswith(b"if") - (word == b"endif")
        if depth == 1 and word.startswith(b"el"):
            return ""
        last = line.end()
    end = text.find(b"\n", last)
    rest = text[end:] if end >= 0 else b""
    return match.group(1).decode() if not depth and not rest.strip() else ""


def _with_spaces(tokens: list[Token]) -> list[Token]:
    """Returns a macro argument with its original spaces, for the operator `#`."""
    spaced: list[Token] = []
    for token in tokens:
        last = spaced[-1].source if spaced else None
        here = token.source
        if last is not None and here is not None and token.type != SPACE:
            behind = last.offset + len(spaced[-1].value)
            if here.offset > behind or here.file != last.file:
                spaced.append(Token(SPACE, " ", here))
        spaced.append(token)
    return spaced


def _read_arguments(waiting: list[Token]) -> tuple[int, list[list[Token]], Token] | None:
    """Returns the number of tokens of a macro call, its arguments and its `)`. The waiting tokens
    are in reverse order.
    """
    at = len(waiting) - 1
    while at >= 0 and waiting[at].type == SPACE:
        at -= 1
    if at < 0 or waiting[at].value != "(":
        return None
    depth = 0
    arguments: list[list[Token]] = [[]]
    for index in range(at, -1, -1):
        token = waiting[index]
        value = token.value
        if value == "(" and token.type == "CPP_LPAREN":
            depth += 1
            if depth == 1:
                continue
        elif value == ")" and token.type == "CPP_RPAREN":
            depth -= 1
            if not depth:
                return len(waiting) - index, [_stripped(a) for a in arguments], token
        elif value == "," and depth == 1:
            arguments.append([])
            continue
        arguments[-1].append(token)
    return None


def _stripped(tokens: list[Token]) -> list[Token]:
    first, last = 0, len(tokens)
    while first < last and tokens[first].type == SPACE:
        first += 1
    while last > first and tokens[last - 1].type == SPACE:
        last -= 1
    return tokens[first:last]


def _checked_arguments(macro: Any, arguments: list[list[Token]]) -> list[list[Token]] | None:
    """Returns one argument per parameter of a macro. Returns None if the number of arguments is
    wrong.
    """
    wanted = len(macro.arglist)
    if not wanted:
        return [] if arguments == [[]] else None
    if macro.variadic:
        if len(arguments) < wanted - 1:
            return None
        rest: list[Token] = []
        for number, argument in enumerate(arguments[wanted - 1 :]):
            if number:
                rest.append(Token("CPP_COMMA", ",", argument[0].source if argument else None))
            rest += argument
        return [*arguments[: wanted - 1], rest]
    return arguments if len(arguments) == wanted else None


def _options(request: SourceRequest) -> tuple[list[str], list[str], list[str], set[str]]:
    """Returns the include folders, the folders for quoted includes, the files of `-include`
    options, and the undefined macros.
    """
    folders = list(request.includes)
    after: list[str] = []
    quoted: list[str] = []
    forced: list[str] = []
    dropped: set[str] = set()
    options: Iterable[str] = iter(request.extra)
    for word in options:
        if word.startswith("-U"):
            dropped.add(word[2:])
        elif word in ("-isystem", "-iquote", "-idirafter", "-include", "-imacros"):
            value = next(options, "")  # type: ignore[call-overload]
            place = {"-isystem": folders, "-iquote": quoted, "-idirafter": after}.get(word, forced)
            place.append(value)
    kept = [f for f in (*folders, *after) if os.path.normpath(f) not in _SYSTEM_FOLDERS]
    return kept, quoted, forced, dropped
