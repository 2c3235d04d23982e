"""Converts libclang's statements to the front ends' syntax tree, one function body at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.constructors import member_initialisers
from regionpredict.frontend.libclang_reader.cursors import (
    ATTRIBUTED,
    BLOCK,
    DECLARATIONS,
    LABEL,
    LOOPS,
    PARAMETER,
    TRY,
    UNNAMED_DECLARATION,
    VARIABLE,
    Node,
    build_tree,
    identity_of,
)
from regionpredict.frontend.libclang_reader.declarations import NO_SPAN, Declarations
from regionpredict.frontend.libclang_reader.expressions import ExpressionBuilder
from regionpredict.frontend.libclang_reader.lock_guards import with_guards
from regionpredict.frontend.libclang_reader.range_loops import (
    counted_loop,
    is_indexable,
    pointer_loop,
    range_object,
)
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.libclang_reader.virtual_methods import overridden_symbols
from regionpredict.frontend.syntax import (
    Compound,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Jump,
    Opaque,
    Pragma,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Unread,
    While,
    address_of,
    every_statement,
    is_place,
)
from regionpredict.frontend.syntax.loop_depth import without_deep_loops
from regionpredict.frontend.text import (
    Attacher,
    SourceText,
    standalone_directive,
    with_directives,
)
from regionpredict.ir import Span

_Position = tuple[int, int, int, int]  # file handle, line, column, offset


class TreeBuilder:
    """Builds `Function`s from libclang's cursors.

    `body_of` returns the function at a cursor, if its body is available.
    """

    def __init__(
        self,
        types: TypeReader,
        file_name: Callable[[int], str],
        body_of: Callable[[lc.Cursor], Function | None],
        sources: Mapping[int, SourceText],
    ) -> None:
        self._lib = lc.load_libclang()
        self._file_name = file_name
        self._place = lc.SourcePositions()
        self._attacher: Attacher[int] = Attacher()
        self._declarations = Declarations(
            types,
            file_name,
            sources,
            lambda variable: self._build_initializer(build_tree(variable)),
        )
        self._expressions = ExpressionBuilder(self._declarations, self._build_inner_block, body_of)
        self._lambdas: list[Stmt] = []
        self._builders = self._builder_table()

    # -- entry points ---------------------------------------------------------------------------

    def set_pragmas(self, file: int, pragmas: list[Pragma]) -> None:
        """Sets the OpenMP directives of a file."""
        self._attacher.add(file, pragmas)

    def function(self, cursor: lc.Cursor, name: str) -> Function | None:
        """Converts a function definition with its directives. Returns None without a body."""
        tree = build_tree(cursor)
        body = next((n for n in reversed(tree.children) if n.kind == BLOCK), None)
        if body is None:
            body = next((n for n in tree.children if n.kind == TRY), None)
        if body is None:
            return None
        file, _, _, begin = self._place.start(cursor)
        closure = self._declarations.is_closure(cursor)
        this = self._declarations.this_parameter(cursor)
        self._attacher.enter(file, begin)
        self._declarations.enter(this)
        parameter_cursors = [n.cursor for n in tree.children if n.kind == PARAMETER]
        # An implicit method has parameters, but no child nodes for them.
        made = range(self._lib.clang_Cursor_getNumArguments(cursor) if not parameter_cursors else 0)
        parameter_cursors += [
            self._lib.clang_Cursor_getArgument(cursor, position) for position in made
        ]
        parameters = [self._declarations.declare(parameter) for parameter in parameter_cursors]
        if this is not None and not closure:
            parameters.insert(0, this)
        first = member_initialisers(tree, this, self._declarations, self._expressions.build)
        built = without_deep_loops(self._build_statement(body))
        decl = self._declarations.declaration(cursor)
        self._declarations.leave()
        self._attacher.end()
        span = self._declarations.span(cursor)
        return Function(
            name, decl, tuple(parameters), built, span, closure, initialisers=first,
            overrides=overridden_symbols(cursor) if this is not None else (),
        )  # fmt: skip

    def getters(self) -> frozenset[tuple[str, str]]:
        """Returns (member, accessor method) for the accessors read so far: (`.m_n`, `size()`)."""
        return self._expressions.getters()

    def declaration(self, cursor: lc.Cursor) -> Decl:
        """Returns the `Decl` for the cursor of a declaration."""
        return self._declarations.declaration(cursor)

    def cursor_of(self, decl: Decl) -> lc.Cursor | None:
        """Returns the libclang cursor of a declaration."""
        return self._declarations.cursor_of(decl)

    def _build_inner_block(self, body: Node, runs: bool) -> None:
        built = self._build_statement(body)
        if runs or any(isinstance(inner, Directive) for inner in every_statement(built)):
            self._lambdas.append(built)  # a lambda without directives is lowered at its calls

    # -- statements -----------------------------------------------------------------------------

    def _builder_table(self) -> dict[int, Callable[[Node, _Position], Stmt]]:
        return {
            201: self._build_label,
            202: self._build_block,
            203: self._build_case,
            204: self._build_default,
            205: self._build_if,
            206: self._build_switch,
            207: self._build_while,
            208: self._build_do,
            209: self._build_for,
            210: self._build_goto,
            212: lambda node, position: Jump("continue", self._span_at(position)),
            213: lambda node, position: Jump("break", self._span_at(position)),
            214: self._build_return,
            215: lambda node, position: Unread("assembler", (), self._span_at(position)),
            223: lambda node, position: Compound(()),  # catch: no normal run executes it
            224: self._build_children,  # try
            225: self._build_range_for,
            230: lambda node, position: Compound(()),
            231: self._build_declarations,
        }

    def _span_at(self, position: _Position) -> Span:
        return (
            Span(self._file_name(position[0]), position[1], position[2]) if position[0] else NO_SPAN
        )

    def _build_statement(self, node: Node) -> Stmt:
        """Converts a statement with the directives before it, followed by the bodies of its
        lambdas.
        """
        outer, self._lambdas = self._lambdas, []
        built = self._build_directed_statement(node)
        bodies, self._lambdas = self._lambdas, outer
        return Compound((built, *bodies)) if bodies else built

    def _build_directed_statement(self, node: Node) -> Stmt:
        node = _without_attributes(node)
        position = self._place.start(node.cursor)
        file, offset = position[0], position[3]
        directives = self._attacher.take(
            file, offset, block=node.kind == BLOCK, loop=node.kind in LOOPS
        )
        if not directives:
            return self._build_plain_statement(node, position)
        built = with_directives(
            directives, self._build_plain_statement(node, position), self._file_name(file)
        )
        self._attacher.leave(file, offset)
        return built

    def _build_plain_statement(self, node: Node, position: _Position) -> Stmt:
        build = self._builders.get(node.kind)
        if build:
            return build(node, position)
        if 100 <= node.kind < 200:
            return ExprStmt(self._expressions.build(node), self._span_at(position))
        inner = tuple(self._expressions.build(c) for c in node.children if 100 <= c.kind < 200)
        return Unread("statement", inner, self._span_at(position))

    def _build_children(self, node: Node, position: _Position) -> Stmt:
        return Compound(tuple(self._build_statement(c) for c in node.children if c.kind >= 100))

    def _build_label(self, node: Node, position: _Position) -> Stmt:
        inner = self._build_children(node, position)
        items = inner.items if isinstance(inner, Compound) else (inner,)
        return Compound(items, label=lc.cursor_name(node.cursor))

    def _build_goto(self, node: Node, position: _Position) -> Stmt:
        names = [lc.cursor_name(child.cursor) for child in node.children if child.kind == LABEL]
        return Jump("goto", self._span_at(position), names[0] if names else "")

    def _build_case(self, node: Node, position: _Position) -> Stmt:
        value = self._build_condition(node.children[0]) if len(node.children) == 2 else Opaque("?")
        return Compound(tuple(self._build_statement(c) for c in node.children[-1:]), (value,))

    def _build_default(self, node: Node, position: _Position) -> Stmt:
        return Compound(
            tuple(self._build_statement(c) for c in node.children if c.kind >= 100), (None,)
        )

    def _build_block(self, node: Node, position: _Position) -> Stmt:
        items = [self._build_statement(child) for child in node.children]
        file, offset = position[0], position[3]
        if self._attacher.has_waiting(file):
            end = self._place.end(node.cursor)[3]
            left = self._attacher.left_over(file, offset, end)
            items += [standalone_directive(pragma, self._file_name(file)) for pragma in left]
        return Compound(with_guards(items))

    def _build_declarations(self, node: Node, position: _Position) -> Stmt:
        decls = []
        for child in node.children:
            if child.kind == VARIABLE:
                decl = self._declarations.declare(child.cursor)
                if decl.init is None:
                    decl.init = self._build_initializer(child)
                    if decl.reference:
                        self._bind_reference(decl)
                decls.append(decl)
            elif child.kind == UNNAMED_DECLARATION and child.children:
                held, names = self._declarations.declare_binding(child)
                held.init = self._expressions.build(child.children[-1])
                if held.reference:
                    self._bind_reference(held)
                decls += [held, *names]
        return DeclStmt(tuple(decls), self._span_at(position))

    def _build_initializer(self, node: Node) -> Expression | None:
        # The children of a variable include array extents, so compare with the initializer.
        value = identity_of(self._lib.clang_Cursor_getVarDeclInitializer(node.cursor))
        for child in node.children:
            if value and child.kind >= 100 and identity_of(child.cursor) == value:
                return self._expressions.build(child)
        return None

    def _bind_reference(self, decl: Decl) -> None:
        """Initializes a reference with the address of its target. A reference to a temporary
        becomes a variable.
        """
        if decl.init is not None and is_place(decl.init):
            decl.init = address_of(decl.init, decl.span)
        elif decl.ctype.element is not None:
            decl.ctype, decl.reference = decl.ctype.element, False

    def _build_condition(self, node: Node) -> Expression:
        return self._expressions.build(node) if 100 <= node.kind < 200 else Opaque("?")

    def _build_if(self, node: Node, position: _Position) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        leading: list[Stmt] = []
        while len(parts) > 2 and parts[0].kind == DECLARATIONS:
            leading.append(self._build_statement(parts.pop(0)))
        if len(parts) < 2:
            return Unread("if", (), self._span_at(position))
        condition = self._build_condition(parts[0])
        then = self._build_statement(parts[1])
        other = self._build_statement(parts[2]) if len(parts) > 2 else None
        built = If(condition, then, other, self._span_at(position))
        return Compound((*leading, built)) if leading else built

    def _build_switch(self, node: Node, position: _Position) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("switch", (), self._span_at(position))
        return Switch(
            self._build_condition(parts[-2]),
            self._build_statement(parts[-1]),
            self._span_at(position),
        )

    def _build_while(self, node: Node, position: _Position) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("while", (), self._span_at(position))
        condition = self._build_condition(parts[-2])
        return While(condition, self._build_statement(parts[-1]), self._span_at(position))

    def _build_do(self, node: Node, position: _Position) -> Stmt:
        if len(node.children) < 2:
            return Unread("do", (), self._span_at(position))
        body = self._build_statement(node.children[0])
        return While(
            self._build_condition(node.children[1]), body, self._span_at(position), behind=True
        )

    def _build_for(self, node: Node, position: _Position) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("for", (), self._span_at(position))
        init, condition, increment = self._for_header(parts[:-1])
        first = self._build_plain_statement(init, self._place.start(init.cursor)) if init else None
        test = self._build_condition(condition) if condition else None
        step = self._build_condition(increment) if increment else None
        body = self._build_statement(parts[-1])
        last_line = self._place.end(node.cursor)[1]
        return For(first, test, step, body, self._span_at(position), last_line)

    def _for_header(self, parts: list[Node]) -> tuple[Node | None, Node | None, Node | None]:
        if len(parts) >= 3:
            return parts[0], parts[-2], parts[-1]
        init = condition = increment = None
        for part in parts:  # libclang omits missing parts, so identify them by their kinds
            if part.kind == DECLARATIONS and init is None:
                init = part
            elif self._expressions.may_be_condition(part) and condition is None:
                condition = part
            elif (
                part is parts[-1] and part is not parts[0] and self._expressions.is_decrement(part)
            ):
                condition = part  # for (j = n; j--; )
            elif condition is None and init is None and part is parts[0] and len(parts) == 2:
                init = part
            else:
                increment = part
        return init, condition, increment

    def _build_range_for(self, node: Node, position: _Position) -> Stmt:
        variable: Decl | None = None
        names: tuple[Decl, ...] = ()
        for child in node.children:
            if child.kind == VARIABLE:
                variable = self._declarations.declare(child.cursor)
            elif child.kind == UNNAMED_DECLARATION:
                variable, names = self._declarations.declare_binding(child)
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("range for", (), self._span_at(position))
        value = self._build_condition(parts[0]) if len(parts) > 1 else None
        body = self._build_statement(parts[-1])
        if names:
            body = Compound((DeclStmt(names, self._span_at(position)), body))
        if variable is not None and value is not None and len(parts) == 2:
            ctype = self._declarations.type_at(parts[0].cursor)
            last_line = self._place.end(node.cursor)[1]
            if is_indexable(value, ctype):
                return counted_loop(
                    variable, value, ctype, body, self._span_at(position), last_line
                )
            place, made = range_object(value, ctype, self._span_at(position))
            bounds = self._expressions.bounds(parts[0], place, self._span_at(position))
            if bounds is not None:
                return pointer_loop(
                    variable, made, bounds, body, self._span_at(position), last_line
                )
        return RangeFor(variable, value, body, self._span_at(position))

    def _build_return(self, node: Node, position: _Position) -> Stmt:
        value = self._expressions.build(node.children[0]) if node.children else None
        return Return(value, self._span_at(position))


def _without_attributes(node: Node) -> Node:
    """Returns the statement inside an attributed statement, such as a loop after `#pragma
    unroll`.
    """
    while node.kind == ATTRIBUTED:
        inner = [child for child in node.children if 200 <= child.kind < 300]
        if not inner:
            break
        node = inner[-1]
    return node
