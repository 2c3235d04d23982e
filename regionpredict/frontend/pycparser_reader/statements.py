"""Converts pycparser's statements and declarations to the front ends' syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pycparser import c_ast

from regionpredict.frontend.pycparser_reader.constants import string_length
from regionpredict.frontend.pycparser_reader.expressions import ExpressionBuilder
from regionpredict.frontend.pycparser_reader.source_positions import Places
from regionpredict.frontend.pycparser_reader.token_rewriting import ASSEMBLER
from regionpredict.frontend.pycparser_reader.tokens import Spot
from regionpredict.frontend.pycparser_reader.top_level import Chunk
from regionpredict.frontend.pycparser_reader.types import Scope, TypeReader, has_qualifier
from regionpredict.frontend.syntax import (
    Compound,
    CType,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    IntLit,
    Jump,
    Opaque,
    Pragma,
    Return,
    Stmt,
    Switch,
    Unread,
    While,
)
from regionpredict.frontend.syntax.loop_depth import without_deep_loops
from regionpredict.frontend.text import (
    Attacher,
    standalone_directive,
    with_directives,
)
from regionpredict.ir import Span

_TAGS = (c_ast.Struct, c_ast.Union, c_ast.Enum)


class TreeBuilder:
    """Builds `Function`s from pycparser's nodes, with directives attached by their offsets."""

    def __init__(self, places: Places, types: TypeReader, expressions: ExpressionBuilder) -> None:
        self._places = places
        self._types = types
        self._expressions = expressions
        self._attacher: Attacher[str] = Attacher()
        self._scope = Scope()
        self._builders: dict[type, Callable[[Any, Spot], Stmt]] = {
            c_ast.Compound: self._build_block,
            c_ast.If: self._build_if,
            c_ast.For: self._build_for,
            c_ast.While: self._build_while,
            c_ast.DoWhile: self._build_while,
            c_ast.Switch: self._build_switch,
            c_ast.Return: self._build_return,
            c_ast.Case: self._build_case,
            c_ast.Default: self._build_case,
            c_ast.Label: lambda node, spot: Compound(
                (self._build_statement(node.stmt),), label=node.name
            ),
            c_ast.EmptyStatement: lambda node, spot: Compound(()),
            c_ast.Goto: lambda node, spot: Jump("goto", _span(spot), node.name),
            c_ast.Break: lambda node, spot: Jump("break", _span(spot)),
            c_ast.Continue: lambda node, spot: Jump("continue", _span(spot)),
        }

    def set_pragmas(self, file: str, pragmas: list[Pragma]) -> None:
        """Sets the OpenMP directives of a file, in order of their offsets."""
        self._attacher.add(file, pragmas)

    def function(self, node: Any, decl: Decl, chunk: Chunk, outer: Scope) -> Function:
        """Converts a function definition with its directives."""
        begin = self._places.spot(chunk.start)
        self._attacher.enter(begin.file, begin.offset)
        before = self._scope
        self._scope = Scope(outer)
        try:
            parameters = tuple(self._parameters(node))
            body = without_deep_loops(self._build_statement(node.body))
        finally:
            self._scope = before
        return Function(decl.name, decl, parameters, body, self._places.span(chunk.start))

    def _parameters(self, node: Any) -> Iterator[Decl]:
        declarator = node.decl.type
        while not isinstance(declarator, c_ast.FuncDecl) and getattr(declarator, "type", None):
            declarator = declarator.type
        listed = list(declarator.args.params) if getattr(declarator, "args", None) else []
        old = {item.name: item for item in node.param_decls or () if isinstance(item, c_ast.Decl)}
        for item in listed:
            declaration = old.get(item.name) if isinstance(item, c_ast.ID) else item
            if isinstance(declaration, (c_ast.Decl, c_ast.Typename)) and not _is_void(declaration):
                yield self._parameter(declaration, ")" if isinstance(item, c_ast.ID) else ",")

    def _parameter(self, node: Any, until: str) -> Decl:
        self._types.define(node.type, self._scope)
        ctype = self._types.read(node.type, self._scope)
        start = self._places.declaration_start(self._places.index(node), until)
        decl = Decl(node.name or "", "parameter", ctype, self._places.span(start))
        self._scope.names[decl.name] = decl
        return decl

    # -- directives -----------------------------------------------------------------------------

    def _build_statement(self, node: Any) -> Stmt:
        spot = self._places.spot(self._start(node))
        return self._statement_with_directives(
            node, spot, lambda: self._build_plain_statement(node, spot)
        )

    def _statement_with_directives(self, node: Any, spot: Spot, build: Callable[[], Stmt]) -> Stmt:
        """Converts a statement with the directives before it."""
        block, loop = isinstance(node, c_ast.Compound), isinstance(node, c_ast.For)
        directives = self._attacher.take(spot.file, spot.offset, block=block, loop=loop)
        built = build()
        if not directives:
            return built
        self._attacher.leave(spot.file, spot.offset)
        return with_directives(directives, built, spot.file)

    # -- statements -----------------------------------------------------------------------------

    def _start(self, node: Any) -> int:
        if isinstance(node, (c_ast.Decl, c_ast.Typedef)):
            return self._places.declaration_start(self._places.index(node))
        if isinstance(node, c_ast.DeclList):
            return self._start(node.decls[0])
        if type(node) in self._builders:
            return self._places.index(node)
        return self._places.statement_start(node)

    def _build_plain_statement(self, node: Any, spot: Spot) -> Stmt:
        build = self._builders.get(type(node))
        if build is not None:
            return build(node, spot)
        if isinstance(node, (c_ast.Decl, c_ast.Typedef)):
            return self._build_declarations([node], spot)
        if isinstance(node, c_ast.ID) and node.name == ASSEMBLER:
            return Unread("assembler", (), _span(spot))
        if isinstance(node, (c_ast.StaticAssert, c_ast.Pragma)):
            return Compound(())
        return ExprStmt(self._build_expression(node), _span(spot))

    def _build_expression(self, node: Any) -> Expression:
        return self._expressions.build(node, self._scope) if node is not None else Opaque("?")

    def _build_block(self, node: Any, spot: Spot) -> Stmt:
        outer, self._scope = self._scope, Scope(self._scope)
        items = [
            self._build_group(group) for group in self._group_declarations(node.block_items or ())
        ]
        if self._attacher.has_waiting(spot.file):
            end = self._places.spot(self._places.end(node)).offset + 1
            left = self._attacher.left_over(spot.file, spot.offset, end)
            items += [standalone_directive(pragma, spot.file) for pragma in left]
        self._scope = outer
        return Compound(tuple(items))

    def _group_declarations(self, items: Any) -> Iterator[list[Any]]:
        """Yields the items of a block, with the declarators of one declaration (`int i, j;`)
        grouped.
        """
        group: list[Any] = []
        start = -1
        for item in items:
            declares = isinstance(item, (c_ast.Decl, c_ast.Typedef))
            begin = self._start(item) if declares else -1
            if group and declares and begin == start:
                group.append(item)
                continue
            if group:
                yield group
            group, start = [item], begin
        if group:
            yield group

    def _build_group(self, group: list[Any]) -> Stmt:
        if len(group) == 1:
            return self._build_statement(group[0])
        spot = self._places.spot(self._start(group[0]))
        return self._statement_with_directives(
            group[0], spot, lambda: self._build_declarations(group, spot)
        )

    def _build_case(self, node: Any, spot: Spot) -> Stmt:
        value = self._build_expression(node.expr) if isinstance(node, c_ast.Case) else None
        return Compound(tuple(self._build_statement(item) for item in node.stmts or ()), (value,))

    def _build_if(self, node: Any, spot: Spot) -> Stmt:
        condition = self._build_expression(node.cond)
        then = self._build_statement(node.iftrue)
        other = self._build_statement(node.iffalse) if node.iffalse is not None else None
        return If(condition, then, other, _span(spot))

    def _build_switch(self, node: Any, spot: Spot) -> Stmt:
        return Switch(
            self._build_expression(node.cond), self._build_statement(node.stmt), _span(spot)
        )

    def _build_while(self, node: Any, spot: Spot) -> Stmt:
        body = self._build_statement(node.stmt)
        condition_last = isinstance(node, c_ast.DoWhile)
        return While(self._build_expression(node.cond), body, _span(spot), condition_last)

    def _build_for(self, node: Any, spot: Spot) -> Stmt:
        outer, self._scope = self._scope, Scope(self._scope)
        first: Stmt | None = None
        if isinstance(node.init, c_ast.DeclList):
            first = self._build_declarations(
                node.init.decls, self._places.spot(self._start(node.init))
            )
        elif node.init is not None:
            begin = self._places.spot(self._places.statement_start(node.init))
            first = ExprStmt(self._build_expression(node.init), _span(begin))
        test = self._build_expression(node.cond) if node.cond is not None else None
        step = self._build_expression(node.next) if node.next is not None else None
        body = self._build_statement(node.stmt)
        self._scope = outer
        end = self._places.end(node)
        last = self._places.spot(end)
        return For(first, test, step, body, _span(spot), last.line)

    def _build_return(self, node: Any, spot: Spot) -> Stmt:
        value = self._build_expression(node.expr) if node.expr is not None else None
        return Return(value, _span(spot))

    # -- declarations ---------------------------------------------------------------------------

    def _build_declarations(self, nodes: list[Any], spot: Spot) -> DeclStmt:
        decls: list[Decl] = []
        first = True
        for node in nodes:
            if isinstance(node, c_ast.Typedef):
                self._types.define(node.type, self._scope, node.name)
                self._scope.typedefs[node.name] = self._types.read(node.type, self._scope)
            elif isinstance(node, c_ast.Decl):
                self._types.define(node.type, self._scope)
                first = first and not _defines_tag(node.type)
                decl = self._build_variable(node, first)
                if decl is not None:
                    decls.append(decl)
            first = False
        return DeclStmt(tuple(decls), _span(spot))

    def _build_variable(self, node: Any, first: bool) -> Decl | None:
        if node.name is None or isinstance(node.type, _TAGS):
            return None
        if isinstance(node.type, c_ast.FuncDecl):
            self._local_function(node)
            return None
        name = self._places.name_index(node)
        start = self._places.declaration_start(name) if first else name
        ctype = with_initializer_length(self._types.read(node.type, self._scope), node.init)
        storage = node.storage or ()
        kind = "static" if "static" in storage or "extern" in storage else "local"
        decl = Decl(
            node.name, kind, ctype, self._places.span(start),
            is_const=self._types.is_const(node.type, self._scope),
        )  # fmt: skip
        decl.is_atomic = has_qualifier(node.type, "_Atomic")
        decl.is_volatile = has_qualifier(node.type, "volatile")
        if "extern" in storage:
            decl = self._scope.find(node.name) or decl
        self._scope.names[decl.name] = decl
        if node.init is not None and decl.init is None:
            decl.init = self._types.with_members_named(self._build_expression(node.init), ctype)
        return decl

    def _local_function(self, node: Any) -> None:
        if self._scope.find(node.name) is None:
            span = self._places.span(self._start(node))
            ctype = self._types.read(node.type, self._scope)
            self._scope.names[node.name] = Decl(
                node.name, "function", ctype, span, symbol=node.name
            )


def _span(spot: Spot) -> Span:
    return Span(spot.file, spot.line, spot.column)


def _is_void(node: Any) -> bool:
    inner: Any = getattr(node.type, "type", None)
    plain = isinstance(node.type, c_ast.TypeDecl) and isinstance(inner, c_ast.IdentifierType)
    return plain and node.name is None and inner.names == ["void"]


def _defines_tag(node: Any) -> bool:
    while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
        node = node.type
    members = node.values if isinstance(node, c_ast.Enum) else getattr(node, "decls", None)
    return isinstance(node, _TAGS) and members is not None


def with_initializer_length(ctype: CType, init: Any) -> CType:
    """Returns an array type with the length of its initializer: two elements for `a[] = {1, 2}`.
    Returns other types unchanged.
    """
    if ctype.kind != "array" or ctype.extent is not None:
        return ctype
    if isinstance(init, c_ast.InitList):
        return ctype._replace(extent=IntLit(_element_count(init)))
    if isinstance(init, c_ast.Constant) and init.type == "string":
        return ctype._replace(extent=IntLit(string_length(init.value)))
    return ctype


def _element_count(init: Any) -> int:
    position = count = 0
    for item in init.exprs or ():
        name: Any = getattr(item, "name", None)
        if isinstance(item, c_ast.NamedInitializer) and isinstance(name[0], c_ast.Constant):
            position = int(name[0].value, 0)
        position += 1
        count = max(count, position)
    return count
