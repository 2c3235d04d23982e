"""Converts pycparser's statements and declarations to the front ends' tree, one function at a
time.
"""

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
    """Builds `Function`s from pycparser's nodes. Directives are attached by their offset."""

    def __init__(self, places: Places, types: TypeReader, expressions: ExpressionBuilder) -> None:
        self._places = places
        self._types = types
        self._expressions = expressions
        self._attacher: Attacher[str] = Attacher()
        self._scope = Scope()
        self._statements: dict[type, Callable[[Any, Spot], Stmt]] = {
            c_ast.Compound: self._compound,
            c_ast.If: self._if,
            c_ast.For: self._for,
            c_ast.While: self._while,
            c_ast.DoWhile: self._while,
            c_ast.Switch: self._switch,
            c_ast.Return: self._return,
            c_ast.Case: self._labelled,
            c_ast.Default: self._labelled,
            c_ast.Label: lambda node, at: Compound((self._statement(node.stmt),), label=node.name),
            c_ast.EmptyStatement: lambda node, at: Compound(()),
            c_ast.Goto: lambda node, at: Jump("goto", _span(at), node.name),
            c_ast.Break: lambda node, at: Jump("break", _span(at)),
            c_ast.Continue: lambda node, at: Jump("continue", _span(at)),
        }

    def set_pragmas(self, file: str, pragmas: list[Pragma]) -> None:
        """Sets the directives of a file, in order."""
        self._attacher.add(file, pragmas)

    def function(self, node: Any, decl: Decl, chunk: Chunk, outer: Scope) -> Function:
        """Returns the function with its body and directives."""
        begin = self._places.spot(chunk.start)
        self._attacher.enter(begin.file, begin.offset)
        before = self._scope
        self._scope = Scope(outer)
        try:
            parameters = tuple(self._parameters(node))
            body = without_deep_loops(self._statement(node.body))
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
            given = old.get(item.name) if isinstance(item, c_ast.ID) else item
            if isinstance(given, (c_ast.Decl, c_ast.Typename)) and not _is_void(given):
                yield self._parameter(given, ")" if isinstance(item, c_ast.ID) else ",")

    def _parameter(self, node: Any, until: str) -> Decl:
        self._types.define(node.type, self._scope)
        ctype = self._types.of(node.type, self._scope)
        start = self._places.declaration_start(self._places.index(node), until)
        decl = Decl(node.name or "", "parameter", ctype, self._places.span(start))
        self._scope.names[decl.name] = decl
        return decl

    # -- directives -----------------------------------------------------------------------------

    def _statement(self, node: Any) -> Stmt:
        at = self._places.spot(self._start(node))
        return self._statement_with_directives(node, at, lambda: self._plain(node, at))

    def _statement_with_directives(self, node: Any, at: Spot, build: Callable[[], Stmt]) -> Stmt:
        """Returns a statement with the directives before it."""
        block, loop = isinstance(node, c_ast.Compound), isinstance(node, c_ast.For)
        taken = self._attacher.take(at.file, at.offset, block=block, loop=loop)
        built = build()
        if not taken:
            return built
        self._attacher.leave(at.file, at.offset)
        return with_directives(taken, built, at.file)

    # -- statements -----------------------------------------------------------------------------

    def _start(self, node: Any) -> int:
        if isinstance(node, (c_ast.Decl, c_ast.Typedef)):
            return self._places.declaration_start(self._places.index(node))
        if isinstance(node, c_ast.DeclList):
            return self._start(node.decls[0])
        if type(node) in self._statements:
            return self._places.index(node)
        return self._places.statement_start(node)

    def _plain(self, node: Any, at: Spot) -> Stmt:
        build = self._statements.get(type(node))
        if build is not None:
            return build(node, at)
        if isinstance(node, (c_ast.Decl, c_ast.Typedef)):
            return self._declarations([node], at)
        if isinstance(node, c_ast.ID) and node.name == ASSEMBLER:
            return Unread("assembler", (), _span(at))
        if isinstance(node, (c_ast.StaticAssert, c_ast.Pragma)):
            return Compound(())
        return ExprStmt(self._build(node), _span(at))

    def _build(self, node: Any) -> Expression:
        return self._expressions.build(node, self._scope) if node is not None else Opaque("?")

    def _compound(self, node: Any, at: Spot) -> Stmt:
        outer, self._scope = self._scope, Scope(self._scope)
        items = [self._item(group) for group in self._group_declarations(node.block_items or ())]
        if self._attacher.has_waiting(at.file):
            end = self._places.spot(self._places.end(node)).offset + 1
            left = self._attacher.left_over(at.file, at.offset, end)
            items += [standalone_directive(pragma, at.file) for pragma in left]
        self._scope = outer
        return Compound(tuple(items))

    def _group_declarations(self, items: Any) -> Iterator[list[Any]]:
        """Yields the statements. Declarations of one `int i, j;` are grouped."""
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

    def _item(self, group: list[Any]) -> Stmt:
        if len(group) == 1:
            return self._statement(group[0])
        at = self._places.spot(self._start(group[0]))
        return self._statement_with_directives(group[0], at, lambda: self._declarations(group, at))

    def _labelled(self, node: Any, at: Spot) -> Stmt:
        value = self._build(node.expr) if isinstance(node, c_ast.Case) else None
        return Compound(tuple(self._statement(item) for item in node.stmts or ()), (value,))

    def _if(self, node: Any, at: Spot) -> Stmt:
        condition = self._build(node.cond)
        then = self._statement(node.iftrue)
        other = self._statement(node.iffalse) if node.iffalse is not None else None
        return If(condition, then, other, _span(at))

    def _switch(self, node: Any, at: Spot) -> Stmt:
        return Switch(self._build(node.cond), self._statement(node.stmt), _span(at))

    def _while(self, node: Any, at: Spot) -> Stmt:
        body = self._statement(node.stmt)
        behind = isinstance(node, c_ast.DoWhile)
        return While(self._build(node.cond), body, _span(at), behind)

    def _for(self, node: Any, at: Spot) -> Stmt:
        outer, self._scope = self._scope, Scope(self._scope)
        first: Stmt | None = None
        if isinstance(node.init, c_ast.DeclList):
            first = self._declarations(node.init.decls, self._places.spot(self._start(node.init)))
        elif node.init is not None:
            begin = self._places.spot(self._places.statement_start(node.init))
            first = ExprStmt(self._build(node.init), _span(begin))
        test = self._build(node.cond) if node.cond is not None else None
        step = self._build(node.next) if node.next is not None else None
        body = self._statement(node.stmt)
        self._scope = outer
        end = self._places.end(node)
        last = self._places.spot(end)
        return For(first, test, step, body, _span(at), last.line)

    def _return(self, node: Any, at: Spot) -> Stmt:
        value = self._build(node.expr) if node.expr is not None else None
        return Return(value, _span(at))

    # -- declarations ---------------------------------------------------------------------------

    def _declarations(self, nodes: list[Any], at: Spot) -> DeclStmt:
        decls: list[Decl] = []
        first = True
        for node in nodes:
            if isinstance(node, c_ast.Typedef):
                self._types.define(node.type, self._scope, node.name)
                self._scope.typedefs[node.name] = self._types.of(node.type, self._scope)
            elif isinstance(node, c_ast.Decl):
                self._types.define(node.type, self._scope)
                first = first and not _defines_tag(node.type)
                decl = self._variable(node, first)
                if decl is not None:
                    decls.append(decl)
            first = False
        return DeclStmt(tuple(decls), _span(at))

    def _variable(self, node: Any, first: bool) -> Decl | None:
        if node.name is None or isinstance(node.type, _TAGS):
            return None
        if isinstance(node.type, c_ast.FuncDecl):
            self._local_function(node)
            return None
        name = self._places.name_index(node)
        start = self._places.declaration_start(name) if first else name
        ctype = completed(self._types.of(node.type, self._scope), node.init)
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
            decl.init = self._types.with_members_named(self._build(node.init), ctype)
        return decl

    def _local_function(self, node: Any) -> None:
        if self._scope.find(node.name) is None:
            span = self._places.span(self._start(node))
            ctype = self._types.of(node.type, self._scope)
            self._scope.names[node.name] = Decl(
                node.name, "function", ctype, span, symbol=node.name
            )


def _span(at: Spot) -> Span:
    return Span(at.file, at.line, at.column)


def _is_void(node: Any) -> bool:
    inner: Any = getattr(node.type, "type", None)
    plain = isinstance(node.type, c_ast.TypeDecl) and isinstance(inner, c_ast.IdentifierType)
    return plain and node.name is None and inner.names == ["void"]


def _defines_tag(node: Any) -> bool:
    while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
        node = node.type
    members = node.values if isinstance(node, c_ast.Enum) else getattr(node, "decls", None)
    return isinstance(node, _TAGS) and members is not None


def completed(ctype: CType, init: Any) -> CType:
    """Returns the type with the array length from its initializer. `a[] = {1, 2}` has two
    elements.
    """
    if ctype.kind != "array" or ctype.extent is not None:
        return ctype
    if isinstance(init, c_ast.InitList):
        return ctype._replace(extent=IntLit(_counted(init)))
    if isinstance(init, c_ast.Constant) and init.type == "string":
        return ctype._replace(extent=IntLit(string_length(init.value)))
    return ctype


def _counted(init: Any) -> int:
    position = count = 0
    for item in init.exprs or ():
        name: Any = getattr(item, "name", None)
        if isinstance(item, c_ast.NamedInitializer) and isinstance(name[0], c_ast.Constant):
            position = int(name[0].value, 0)
        position += 1
        count = max(count, position)
    return count
