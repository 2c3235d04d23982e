"""Converts libclang's statements to the front ends' syntax tree, one function body at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.constructors import initialisers
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
    grow,
    key_of,
)
from regionpredict.frontend.libclang_reader.declarations import NO_SPAN, Declarations
from regionpredict.frontend.libclang_reader.expressions import ExpressionBuilder
from regionpredict.frontend.libclang_reader.lock_guards import with_guards
from regionpredict.frontend.libclang_reader.range_loops import (
    counted_loop,
    has_positions,
    pointer_loop,
    range_object,
)
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.libclang_reader.virtual_methods import overridden
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

_At = tuple[int, int, int, int]  # file handle, line, column, offset


class TreeBuilder:
    """Builds `Function`s from cursors. Declarations are created once and shared.

    `body_of` returns the function that a call's cursor refers to, if its body is available.
    """

    def __init__(
        self,
        types: TypeReader,
        file_name: Callable[[int], str],
        body_of: Callable[[lc.Cursor], Function | None],
        sources: Mapping[int, SourceText],
    ) -> None:
        self._lib = lc.library()
        self._file_name = file_name
        self._place = lc.Place()
        self._attacher: Attacher[int] = Attacher()
        self._declarations = Declarations(
            types, file_name, sources, lambda variable: self._initialiser(grow(variable))
        )
        self._expressions = ExpressionBuilder(self._declarations, self._keep_block, body_of)
        self._lambdas: list[Stmt] = []
        self._statements = self._statement_table()

    # -- entry points ---------------------------------------------------------------------------

    def set_pragmas(self, file: int, pragmas: list[Pragma]) -> None:
        """Sets the directives of a file."""
        self._attacher.add(file, pragmas)

    def function(self, cursor: lc.Cursor, name: str) -> Function | None:
        """Returns the function with its body and directives, or None without a body."""
        tree = grow(cursor)
        body = next((n for n in reversed(tree.children) if n.kind == BLOCK), None)
        if body is None:
            body = next((n for n in tree.children if n.kind == TRY), None)
        if body is None:
            return None
        file, _, _, begin = self._place.start(cursor)
        closure = self._declarations.is_closure(cursor)
        this = self._declarations.this_of(cursor)
        self._attacher.enter(file, begin)
        self._declarations.enter(this)
        named = [n.cursor for n in tree.children if n.kind == PARAMETER]
        # The parameters of an implicit method are not among its children.
        made = range(self._lib.clang_Cursor_getNumArguments(cursor) if not named else 0)
        named += [self._lib.clang_Cursor_getArgument(cursor, at) for at in made]
        parameters = [self._declarations.declare(parameter) for parameter in named]
        if this is not None and not closure:
            parameters.insert(0, this)
        first = initialisers(tree, this, self._declarations, self._expressions.build)
        built = without_deep_loops(self._statement(body))
        decl = self._declarations.of(cursor)
        self._declarations.leave()
        self._attacher.end()
        span = self._declarations.span(cursor)
        return Function(
            name, decl, tuple(parameters), built, span, closure, initialisers=first,
            overrides=overridden(cursor) if this is not None else (),
        )  # fmt: skip

    def getters(self) -> frozenset[tuple[str, str]]:
        """Returns the accessor methods read so far, each with the member that it returns: `.m_n`,
        `size()`.
        """
        return self._expressions.getters()

    def declared(self, cursor: lc.Cursor) -> Decl:
        """Returns the declaration at a cursor that declares something."""
        return self._declarations.of(cursor)

    def cursor_of(self, decl: Decl) -> lc.Cursor | None:
        """Returns the cursor of the declaration `decl`."""
        return self._declarations.cursor_of(decl)

    def _keep_block(self, body: Node, runs: bool) -> None:
        built = self._statement(body)
        if runs or any(isinstance(inner, Directive) for inner in every_statement(built)):
            self._lambdas.append(built)  # other lambdas are lowered at their calls

    # -- statements -----------------------------------------------------------------------------

    def _statement_table(self) -> dict[int, Callable[[Node, _At], Stmt]]:
        return {
            201: self._label,
            202: self._compound,
            203: self._case,
            204: self._default,
            205: self._if,
            206: self._switch,
            207: self._while,
            208: self._do,
            209: self._for,
            210: self._goto,
            212: lambda node, at: Jump("continue", self._at(at)),
            213: lambda node, at: Jump("break", self._at(at)),
            214: self._return,
            215: lambda node, at: Unread("assembler", (), self._at(at)),
            223: lambda node, at: Compound(()),  # catch: no normal run executes it
            224: self._inner,  # try
            225: self._range_for,
            230: lambda node, at: Compound(()),
            231: self._decl_stmt,
        }

    def _at(self, at: _At) -> Span:
        return Span(self._file_name(at[0]), at[1], at[2]) if at[0] else NO_SPAN

    def _statement(self, node: Node) -> Stmt:
        """Returns a statement with the directives before it. The bodies of its lambdas follow."""
        outer, self._lambdas = self._lambdas, []
        built = self._directed_statement(node)
        bodies, self._lambdas = self._lambdas, outer
        return Compound((built, *bodies)) if bodies else built

    def _directed_statement(self, node: Node) -> Stmt:
        node = _without_attributes(node)
        at = self._place.start(node.cursor)
        file, offset = at[0], at[3]
        taken = self._attacher.take(file, offset, block=node.kind == BLOCK, loop=node.kind in LOOPS)
        if not taken:
            return self._plain_statement(node, at)
        built = with_directives(taken, self._plain_statement(node, at), self._file_name(file))
        self._attacher.leave(file, offset)
        return built

    def _plain_statement(self, node: Node, at: _At) -> Stmt:
        build = self._statements.get(node.kind)
        if build:
            return build(node, at)
        if 100 <= node.kind < 200:
            return ExprStmt(self._expressions.build(node), self._at(at))
        inner = tuple(self._expressions.build(c) for c in node.children if 100 <= c.kind < 200)
        return Unread("statement", inner, self._at(at))

    def _inner(self, node: Node, at: _At) -> Stmt:
        return Compound(tuple(self._statement(c) for c in node.children if c.kind >= 100))

    def _label(self, node: Node, at: _At) -> Stmt:
        inner = self._inner(node, at)
        items = inner.items if isinstance(inner, Compound) else (inner,)
        return Compound(items, label=lc.spelling(node.cursor))

    def _goto(self, node: Node, at: _At) -> Stmt:
        names = [lc.spelling(child.cursor) for child in node.children if child.kind == LABEL]
        return Jump("goto", self._at(at), names[0] if names else "")

    def _case(self, node: Node, at: _At) -> Stmt:
        value = self._condition_of(node.children[0]) if len(node.children) == 2 else Opaque("?")
        return Compound(tuple(self._statement(c) for c in node.children[-1:]), (value,))

    def _default(self, node: Node, at: _At) -> Stmt:
        return Compound(tuple(self._statement(c) for c in node.children if c.kind >= 100), (None,))

    def _compound(self, node: Node, at: _At) -> Stmt:
        items = [self._statement(child) for child in node.children]
        file, offset = at[0], at[3]
        if self._attacher.has_waiting(file):
            end = self._place.end(node.cursor)[3]
            left = self._attacher.left_over(file, offset, end)
            items += [standalone_directive(pragma, self._file_name(file)) for pragma in left]
        return Compound(with_guards(items))

    def _decl_stmt(self, node: Node, at: _At) -> Stmt:
        decls = []
        for child in node.children:
            if child.kind == VARIABLE:
                decl = self._declarations.declare(child.cursor)
                if decl.init is None:
                    decl.init = self._initialiser(child)
                    if decl.reference:
                        self._bind_reference(decl)
                decls.append(decl)
            elif child.kind == UNNAMED_DECLARATION and child.children:
                held, names = self._declarations.bind(child)
                held.init = self._expressions.build(child.children[-1])
                if held.reference:
                    self._bind_reference(held)
                decls += [held, *names]
        return DeclStmt(tuple(decls), self._at(at))

    def _initialiser(self, node: Node) -> Expression | None:
        # Array extents are children, too. libclang identifies the value.
        value = key_of(self._lib.clang_Cursor_getVarDeclInitializer(node.cursor))
        for child in node.children:
            if value and child.kind >= 100 and key_of(child.cursor) == value:
                return self._expressions.build(child)
        return None

    def _bind_reference(self, decl: Decl) -> None:
        """Initializes a reference with an address. A reference to a value without an address
        becomes that value.
        """
        if decl.init is not None and is_place(decl.init):
            decl.init = address_of(decl.init, decl.span)
        elif decl.ctype.element is not None:
            decl.ctype, decl.reference = decl.ctype.element, False

    def _condition_of(self, node: Node) -> Expression:
        return self._expressions.build(node) if 100 <= node.kind < 200 else Opaque("?")

    def _if(self, node: Node, at: _At) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        leading: list[Stmt] = []
        while len(parts) > 2 and parts[0].kind == DECLARATIONS:
            leading.append(self._statement(parts.pop(0)))
        if len(parts) < 2:
            return Unread("if", (), self._at(at))
        condition = self._condition_of(parts[0])
        then = self._statement(parts[1])
        other = self._statement(parts[2]) if len(parts) > 2 else None
        built = If(condition, then, other, self._at(at))
        return Compound((*leading, built)) if leading else built

    def _switch(self, node: Node, at: _At) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("switch", (), self._at(at))
        return Switch(self._condition_of(parts[-2]), self._statement(parts[-1]), self._at(at))

    def _while(self, node: Node, at: _At) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("while", (), self._at(at))
        condition = self._condition_of(parts[-2])
        return While(condition, self._statement(parts[-1]), self._at(at))

    def _do(self, node: Node, at: _At) -> Stmt:
        if len(node.children) < 2:
            return Unread("do", (), self._at(at))
        body = self._statement(node.children[0])
        return While(self._condition_of(node.children[1]), body, self._at(at), behind=True)

    def _for(self, node: Node, at: _At) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("for", (), self._at(at))
        init, condition, increment = self._for_header(parts[:-1])
        first = self._plain_statement(init, self._place.start(init.cursor)) if init else None
        test = self._condition_of(condition) if condition else None
        step = self._condition_of(increment) if increment else None
        body = self._statement(parts[-1])
        last_line = self._place.end(node.cursor)[1]
        return For(first, test, step, body, self._at(at), last_line)

    def _for_header(self, parts: list[Node]) -> tuple[Node | None, Node | None, Node | None]:
        if len(parts) >= 3:
            return parts[0], parts[-2], parts[-1]
        init = condition = increment = None
        for part in parts:  # a part is missing: identify parts by their kinds
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

    def _range_for(self, node: Node, at: _At) -> Stmt:
        variable: Decl | None = None
        names: tuple[Decl, ...] = ()
        for child in node.children:
            if child.kind == VARIABLE:
                variable = self._declarations.declare(child.cursor)
            elif child.kind == UNNAMED_DECLARATION:
                variable, names = self._declarations.bind(child)
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("range for", (), self._at(at))
        value = self._condition_of(parts[0]) if len(parts) > 1 else None
        body = self._statement(parts[-1])
        if names:
            body = Compound((DeclStmt(names, self._at(at)), body))
        if variable is not None and value is not None and len(parts) == 2:
            ctype = self._declarations.type_at(parts[0].cursor)
            last_line = self._place.end(node.cursor)[1]
            if has_positions(value, ctype):
                return counted_loop(variable, value, ctype, body, self._at(at), last_line)
            place, made = range_object(value, ctype, self._at(at))
            bounds = self._expressions.bounds(parts[0], place, self._at(at))
            if bounds is not None:
                return pointer_loop(variable, made, bounds, body, self._at(at), last_line)
        return RangeFor(variable, value, body, self._at(at))

    def _return(self, node: Node, at: _At) -> Stmt:
        value = self._expressions.build(node.children[0]) if node.children else None
        return Return(value, self._at(at))


def _without_attributes(node: Node) -> Node:
    """Returns the loop after a `#pragma unroll`, which libclang shows as an attribute."""
    while node.kind == ATTRIBUTED:
        inner = [child for child in node.children if 200 <= child.kind < 300]
        if not inner:
            break
        node = inner[-1]
    return node
