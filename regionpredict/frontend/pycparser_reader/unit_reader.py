"""Reads a C source file with pycparser into a `Unit`, without a compiler or a C library.

pcpp preprocesses the file with the headers shipped with this package. Each top-level declaration is
parsed separately. Functions without a directive are converted on demand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from pycparser import c_ast

from regionpredict.errors import InputError
from regionpredict.frontend.headers import is_system_path, library_headers_for
from regionpredict.frontend.pycparser_reader.expressions import ExpressionBuilder
from regionpredict.frontend.pycparser_reader.preprocessor import preprocess
from regionpredict.frontend.pycparser_reader.source_positions import Places
from regionpredict.frontend.pycparser_reader.statements import TreeBuilder, with_initializer_length
from regionpredict.frontend.pycparser_reader.token_rewriting import (
    close_blocks,
    matching_brackets,
    remove_extensions,
)
from regionpredict.frontend.pycparser_reader.tokens import Spot
from regionpredict.frontend.pycparser_reader.top_level import (
    Chunk,
    ChunkError,
    ChunkParser,
    declared_names,
    split_declarations,
    statement_around,
)
from regionpredict.frontend.pycparser_reader.types import Scope, TypeReader, has_qualifier
from regionpredict.frontend.requests import (
    SourceRequest,
    is_cpp,
)
from regionpredict.frontend.syntax import (
    UNKNOWN,
    CType,
    Decl,
    Expression,
    Function,
    IntLit,
    Located,
    Name,
    Pragma,
    Unit,
    every_expression,
    unread_list,
)
from regionpredict.frontend.syntax.directive import threadprivate
from regionpredict.frontend.text import (
    MacroTable,
    SourceText,
    blank_comments,
    find_pragmas,
    inactive_loops,
    left_out_macros,
    masked,
    may_hold_directives,
    note_on_guesses,
    parse_directive,
    threads_set,
    unterminated_comment,
    with_numbers,
)
from regionpredict.ir import Diagnostic, Span

_DEFINE = re.compile(rb"^[ \t\v]*#[ \t\v]*define[ \t\v]+([A-Za-z_]\w*)", re.MULTILINE)
_PREPROCESSOR_LINE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_END_IN_OTHER_FILE = 1 << 62
_MAX_SKIPPED_STATEMENTS = 12


def parse_unit(request: SourceRequest) -> Unit:
    """Parses one C file. Raises InputError for a C++ file and for a file that cannot be read."""
    if is_cpp(request.path):
        raise InputError(
            "C++ is not read by this front end", remedy="use --frontend libclang", path=request.path
        )
    return _UnitReader(request).unit()


class _FileScope(Scope):
    """The scope of a file. Each declaration is created at its first use by `make`."""

    __slots__ = ("make",)

    def __init__(self) -> None:
        super().__init__()
        self.make: Any = None

    def declared_on_demand(self, name: str) -> Decl | None:
        """Returns the global variable or function with this name."""
        return self.make(name) if self.make is not None else None


class _UnitReader:
    """Reads one file, and converts its functions and global variables on demand."""

    def __init__(self, request: SourceRequest) -> None:
        self.request = request
        self.read = preprocess(request)
        if any(note.id == "RP001" for note in self.read.diagnostics):
            headers = library_headers_for(map(blank_comments, self.read.files.values()))
            included = [word for header in headers for word in ("-include", header)]
            request = replace(request, extra=(*request.extra, *included))
            self.read = preprocess(request)
        left = left_out_macros(
            (blank_comments(data), self._active_defines(SourceText(path, data)))
            for path, data in self.read.files.items() if b"define" in data
        )  # fmt: skip
        if left:
            self.read = preprocess(replace(request, defines=(*request.defines, *left)))
            note = Diagnostic("RP005", Span(request.path, 1), note_on_guesses(left))
            self.read.diagnostics.append(note)
        self.diagnostics = list(self.read.diagnostics)
        self.errors: list[Span] = []
        self.c_tokens, self.operators, attributes, self.never_return = remove_extensions(
            self.read.tokens
        )
        if close_blocks(self.c_tokens):
            last = self.c_tokens[-1].spot
            self.errors.append(Span(last.file, last.line, last.column))
            self._report("RP002", self.errors[-1], "syntax error: expected '}'; the rest was read")
        partner = matching_brackets(self.c_tokens)
        self.places = Places(self.c_tokens, partner, attributes)
        self.parser = ChunkParser(self.c_tokens)
        self.scope = _FileScope()
        self.scope.make = self._declare_global
        self.expressions = ExpressionBuilder(self.places, lambda: self.types, self.scope)
        self.types = TypeReader(self._build_expression, self._node_span, self.places.attribute)
        self.builder = TreeBuilder(self.places, self.types, self.expressions)
        self.sources = {path: SourceText(path, data) for path, data in self.read.files.items()}
        for path, source in self.sources.items():
            if (at := unterminated_comment(source.data)) >= 0 and not is_system_path(path):
                what = "syntax error: unterminated /* comment; the rest was read"
                self._report("RP002", Span(path, *source.place(at)), what)
        self.macros = MacroTable()
        self.chunks: dict[str, Chunk] = {}  # functions with a body, by name
        self.unparsed_chunks: dict[str, list[Chunk]] = {}  # unused declarations, by name
        self._parsed: set[int] = set()  # starts of parsed chunks, which may declare many names
        self.variable_declarations: dict[str, list[tuple[Any, int]]] = {}
        self.prototypes: dict[str, tuple[Any, int]] = {}
        self.functions: dict[str, Function | None] = {}
        self.located: list[tuple[str, str, int, int]] = []
        self._kept_offsets: dict[str, list[int]] = {}
        for chunk in split_declarations(self.c_tokens, partner):
            self._add_chunk(chunk)

    def _build_expression(self, node: Any, scope: Scope) -> Expression:
        return self.expressions.build(node, scope)

    def _node_span(self, node: Any) -> Span:
        index = self.places.index(node)
        if isinstance(node, c_ast.Enumerator):
            return self.places.span(index)
        return self.places.span(self.places.declaration_start(index))

    # -- the file's declarations ----------------------------------------------------------------

    def _add_chunk(self, chunk: Chunk) -> None:
        """Records the names that a chunk declares. Parses the chunk if its tokens do not show the
        names.
        """
        names = declared_names(self.c_tokens, chunk, self.places.partner)
        if names is None:
            self._parse_chunk(chunk)
            return
        for name in names:
            self.unparsed_chunks.setdefault(name, []).append(chunk)
        if chunk.body >= 0:
            self._record_function(names[0], chunk)

    def _parse_chunk(self, chunk: Chunk) -> None:
        is_function = chunk.body >= 0
        old_style = is_function and self.c_tokens[chunk.body - 1].value == ";"
        try:
            if is_function and not old_style:
                nodes = self.parser.parse(chunk.start, chunk.body, close=True)
            else:
                nodes = self.parser.parse(chunk.start, chunk.stop)
        except ChunkError as error:
            self._report_chunk_error(chunk, error)
            return
        for parsed in nodes:
            node: Any = parsed.decl if isinstance(parsed, c_ast.FuncDef) else parsed
            if isinstance(node, c_ast.Typedef):
                self.parser.typedefs.add(node.name)
                self.types.define(node.type, self.scope, node.name)
                self.scope.typedefs.setdefault(node.name, (node.type, self.scope))
            elif isinstance(node, c_ast.Decl):
                self._declare(node, chunk, is_function)

    def _declare(self, node: Any, chunk: Chunk, is_function: bool) -> None:
        self.types.define(node.type, self.scope)
        if node.name is None:
            return
        if _is_function(node.type):
            self.prototypes.setdefault(node.name, (node.type, chunk.start))
            if is_function and node.name not in self.chunks:
                self._record_function(node.name, chunk)
        else:
            self.variable_declarations.setdefault(node.name, []).append((node, chunk.start))

    def _record_function(self, name: str, chunk: Chunk) -> None:
        begin, last = self.places.spot(chunk.start), self.places.spot(chunk.stop - 1)
        if name in self.chunks or is_system_path(begin.file):
            return
        self.chunks[name] = chunk
        end = last.offset + 1 if last.file == begin.file else _END_IN_OTHER_FILE
        self.located.append((name, begin.file, begin.offset, end))

    def _report_chunk_error(self, chunk: Chunk, error: ChunkError, chunk_kind: str = "") -> None:
        span = self.places.span(min(error.place, chunk.stop - 1))
        if is_system_path(span.file):
            return
        self.errors.append(span)
        chunk_kind = chunk_kind or ("function" if chunk.body >= 0 else "declaration")
        message = f"syntax error: {error}; skipped this {chunk_kind}"
        self._report("RP002", span, message)

    def _report(self, rule: str, span: Span, message: str) -> None:
        self.diagnostics.append(Diagnostic(rule, span, message))

    def _never_returns(self, start: int) -> bool:
        """Returns whether the declaration at the token `start` has a `noreturn` attribute."""
        if start - 1 in self.never_return:  # the attribute precedes the declaration
            return True
        for at in range(start, len(self.c_tokens)):
            if self.c_tokens[at].value in (";", "{"):
                return False
            if at in self.never_return or self.c_tokens[at].value == "_Noreturn":
                return True
        return False

    def _declare_global(self, name: str) -> Decl | None:
        for chunk in self.unparsed_chunks.pop(name, ()):
            if chunk.start not in self._parsed:
                self._parsed.add(chunk.start)
                self._parse_chunk(chunk)
        if name in self.prototypes:
            node, start = self.prototypes[name]
            static = name in self.chunks and self._is_static(self.chunks[name])
            symbol = "" if static else name
            decl = Decl(
                name, "function", UNKNOWN, self.places.span(start), symbol=symbol,
                never_returns=self._never_returns(start),
            )  # fmt: skip
            self.scope.names[name] = decl
            decl.ctype = self.types.read(node, self.scope)
            return decl
        if name not in self.variable_declarations:
            return None
        self.variable_declarations[name].sort(key=itemgetter(1))  # as in the file
        node, start = self.variable_declarations[name][-1]
        static = any(
            "static" in (declaration.storage or ())
            for declaration, _ in self.variable_declarations[name]
        )
        symbol = "" if static else name
        decl = Decl(name, "global", UNKNOWN, self.places.span(start), symbol=symbol)
        self.scope.names[name] = decl
        decl.ctype = self._global_type(name)
        decl.is_const = self.types.is_const(node.type, self.scope)
        decl.is_atomic = has_qualifier(node.type, "_Atomic")
        decl.is_volatile = has_qualifier(node.type, "volatile")
        decl.init = self._global_initialiser(name, decl)
        return decl

    def _global_type(self, name: str) -> CType:
        latest = UNKNOWN
        for node, _ in self.variable_declarations[name]:
            ctype = with_initializer_length(self.types.read(node.type, self.scope), node.init)
            if latest.kind != "array" or ctype.extent is not None:
                latest = ctype
        return latest

    def _global_initialiser(self, name: str, decl: Decl) -> Expression | None:
        ctype = decl.ctype
        for node, _ in self.variable_declarations[name]:
            if node.init is not None and ctype.kind == "int":
                value = self.types.constant(node.init, self.scope)
                if value is not None or not decl.is_const:
                    return IntLit(value) if value is not None else None
            if node.init is not None and decl.is_const:
                return self._build_expression(node.init, self.scope)
            if node.init is not None and (ctype.is_option_table or ctype.holds_sizes):
                return self.types.with_members_named(
                    self._build_expression(node.init, self.scope), ctype
                )
            if node.init is not None and ctype.may_hold_functions:
                return unread_list()
            if isinstance(node.init, (c_ast.ID, c_ast.UnaryOp, c_ast.Cast)) and (
                ctype.kind == "pointer"
            ):
                held = self._build_expression(node.init, self.scope)
                inside = every_expression(held)
                if any(isinstance(e, Name) and e.decl.kind == "function" for e in inside):
                    return held
        return None

    # -- the unit -------------------------------------------------------------------------------

    def unit(self) -> Unit:
        """Reads the directives and the functions that contain them. Other functions are read on
        demand.
        """
        for source in self.sources.values():
            if b"define" in source.data:
                self.macros.add_text(self._active_defines(source))
        for name, value in self.request.defines:
            self.macros.add(name, value)
        directives = self._read_directives()
        functions = self._functions_with(directives)
        self._report_guesses()
        return Unit(
            path=self.request.path,
            functions=tuple(functions),
            located=self._defined_functions(),
            texts=self._texts(),
            body_of=self.body_of,
            variables=self.variables,
            directives=tuple((file, pragma) for file, pragma in directives if pragma.is_loop),
            diagnostics=tuple(self.diagnostics),
            files=tuple(self.sources),
            macros=self.macros.constants,
            lookups=self.read.lookups,
            threadprivate=threadprivate(pragma for _, pragma in directives),
            errors=tuple(self.errors),
            headers="shipped",
            reassociates=self.request.reassociates,
        )

    def _report_guesses(self) -> None:
        guessed = sorted(self.parser.unknown)
        if guessed:
            names = ", ".join(guessed[:5]) + (", ..." if len(guessed) > 5 else "")
            message = f"declarations guessed for names from missing headers: {names}"
            self._report("RP005", Span(self.request.path, 1), message)

    def _active_defines(self, source: SourceText) -> bytes:
        """Returns the text of a file without comments and inactive macro definitions."""
        text = bytearray(blank_comments(source.data))
        for match in _DEFINE.finditer(text):
            if (source.path, match.start(1)) not in self.read.defines:
                text[match.start() : match.start(1)] = b" " * (match.start(1) - match.start())
        return bytes(text)

    def _read_directives(self) -> list[tuple[str, Pragma]]:
        directives: list[tuple[str, Pragma]] = []
        expanded: dict[str, list[Pragma]] = {}
        for text, spot in self.operators:
            pragma = self._from_operator(text, spot)
            if pragma is not None:
                expanded.setdefault(spot.file, []).append(pragma)
        for path, source in self.sources.items():
            pragmas: list[Pragma] = []
            self.diagnostics += threads_set(source, partial(self._is_kept, path))
            if may_hold_directives(source.data, self.macros):
                pragmas = find_pragmas(source, self.macros, masked(source.data))
                pragmas = [p for p in pragmas if self._is_active(path, p, expanded)]
                self.diagnostics += inactive_loops(
                    source, self.macros, pragmas, partial(self._is_kept, path)
                )
            known = {pragma.offset for pragma in pragmas}
            pragmas += [p for p in expanded.get(path, ()) if p.offset not in known]
            pragmas.sort(key=lambda pragma: pragma.offset)
            if pragmas:
                pragmas = [with_numbers(pragma, self._enumerator) for pragma in pragmas]
                self.builder.set_pragmas(path, pragmas)
                directives.extend((path, pragma) for pragma in pragmas)
        return directives

    def _enumerator(self, name: str) -> int | None:
        """Returns the value of an enumerator at file scope."""
        decl = self.scope.find(name)
        return decl.value if decl is not None else None

    def _is_kept(self, path: str, begin: int, end: int) -> bool:
        """Returns whether the preprocessor kept some text between two offsets of a file. The result
        is True for empty text.
        """
        offsets = self._kept_offsets.get(path)
        if offsets is None:
            taken = [word.spot.offset for word in self.c_tokens if word.spot.file == path]
            for file, offset in (*self.read.pragmas, *self.read.defines):
                if file == path:
                    taken.append(offset)
            offsets = self._kept_offsets[path] = sorted(taken)
        at = bisect_left(offsets, begin)
        inner = _PREPROCESSOR_LINE.sub(b"", blank_comments(self.read.files[path][begin:end]))
        return not inner.strip() or (at < len(offsets) and offsets[at] < end)

    def _is_active(self, path: str, pragma: Pragma, expanded: dict[str, list[Pragma]]) -> bool:
        if pragma.macro:
            return any(spot.offset == pragma.offset for spot in expanded.get(path, ()))
        return (path, pragma.offset) in self.read.pragmas

    def _from_operator(self, text: str, spot: Spot) -> Pragma | None:
        """Returns the directive in a `_Pragma("omp ...")`. Returns None for other pragmas."""
        inner = re.sub(r'\\(["\\])', r"\1", text.strip().lstrip("L")[1:-1])
        inner = " ".join(inner.split())
        if not re.match(r"omp\b", inner):
            return None
        kind, clauses = parse_directive(self.macros.expand(inner[3:]))
        if not kind:
            return None
        end = spot.offset + 1
        return Pragma(kind, clauses, spot.offset, end, spot.line, spot.column, inner, "_Pragma")

    # -- functions ------------------------------------------------------------------------------

    def _functions_with(self, directives: list[tuple[str, Pragma]]) -> list[Function]:
        offsets: dict[str, list[int]] = {}
        for file, pragma in directives:
            offsets.setdefault(file, []).append(pragma.offset)
        functions = []
        for name, file, begin, end in self.located if directives else ():
            inside = any(begin <= offset <= end for offset in offsets.get(file, ()))
            if inside or self._includes(self.chunks[name], offsets.keys() - {file}):
                function = self._function(name)
                if function is not None:
                    functions.append(function)
        return functions

    def _includes(self, chunk: Chunk, files: set[str]) -> bool:
        """Returns whether a function contains tokens from one of the files, by an `#include` in its
        body.
        """
        if not files:
            return False
        return any(word.filename in files for word in self.c_tokens[chunk.start : chunk.stop])

    def _function(self, name: str) -> Function | None:
        if name not in self.functions:
            self.functions[name] = None  # ends the recursion for a recursive function
            self.functions[name] = self._build_function(name)
        return self.functions[name]

    def _build_function(self, name: str) -> Function | None:
        chunk = self.chunks.get(name)
        decl = self.scope.find(name)
        if chunk is None or decl is None:
            return None
        nodes = self._parse_body(chunk)
        definition = next((node for node in nodes if isinstance(node, c_ast.FuncDef)), None)
        if definition is None:
            return None
        return self.builder.function(definition, decl, chunk, self.scope)

    def _parse_body(self, chunk: Chunk) -> list[Any]:
        """Parses a function. Statements that pycparser rejects are skipped, with a diagnostic."""
        skipped: tuple[tuple[int, int], ...] = ()
        guessed: set[str] = set()
        for _ in range(_MAX_SKIPPED_STATEMENTS):
            try:
                return self.parser.parse(chunk.start, chunk.stop, without=skipped, guessed=guessed)
            except ChunkError as error:
                last = error
                bad = statement_around(
                    self.c_tokens, self.places.partner, min(error.place, chunk.stop - 2), chunk.body
                )
            if not chunk.body < bad[0] < bad[1] < chunk.stop or bad in skipped:
                break
            self._report_chunk_error(chunk, last, "statement")
            kept = [gap for gap in skipped if gap[1] <= bad[0] or gap[0] >= bad[1]]
            skipped = tuple(sorted([*kept, bad]))
        self._report_chunk_error(chunk, last)
        return []

    def body_of(self, decl: Decl) -> Function | None:
        """Returns the syntax tree of a function. Returns None if the user's files do not contain
        its body.
        """
        return self._function(decl.name) if decl.kind == "function" else None

    def _defined_functions(self) -> tuple[Located, ...]:
        """Returns the positions and builders of all functions that the user's files define."""
        return tuple(
            Located(name, file, begin, end, self._is_static(self.chunks[name]),
                    partial(self._function, name))
            for name, file, begin, end in self.located
        )  # fmt: skip

    def _is_static(self, chunk: Chunk) -> bool:
        head = chunk.body if chunk.body >= 0 else chunk.stop
        return any(word.value == "static" for word in self.c_tokens[chunk.start : head])

    def _texts(self) -> dict[Hashable, bytes]:
        """Returns the texts of the user's files, and of the macros on the command line."""
        texts: dict[Hashable, bytes] = {path: source.data for path, source in self.sources.items()}
        texts[""] = self.request.macro_text
        return texts

    def variables(self) -> list[Decl]:
        """Returns the external variables of the user's files with a known initializer."""
        names = [
            name for name, chunks in self.unparsed_chunks.items()
            if any(self._initialises(chunk) for chunk in chunks)
        ]  # fmt: skip
        decls = [self.scope.find(name) for name in (*names, *self.variable_declarations)]
        return [
            decl for decl in dict.fromkeys(decls)
            if decl is not None and decl.kind == "global" and decl.symbol and decl.init is not None
            and not is_system_path(decl.span.file)
        ]  # fmt: skip

    def _initialises(self, chunk: Chunk) -> bool:
        return (
            chunk.body < 0
            and any(word.value == "=" for word in self.c_tokens[chunk.start : chunk.stop])
            and not is_system_path(self.places.spot(chunk.start).file)
        )


def _is_function(node: Any) -> bool:
    return isinstance(node, c_ast.FuncDecl)
