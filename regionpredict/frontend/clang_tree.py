"""libclang cursors -> the front ends' syntax tree, one function body at a time."""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend import libclang as lc
from regionpredict.frontend.clang_types import TypeReader
from regionpredict.frontend.pragmas import Pragma
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    FloatLit,
    For,
    Function,
    If,
    Index,
    IntLit,
    Jump,
    Member,
    Name,
    Opaque,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Ternary,
    Unary,
    Unread,
    While,
)
from regionpredict.ir import Span

_BINARY = [
    "",
    ".*",
    "->*",
    "*",
    "/",
    "%",
    "+",
    "-",
    "<<",
    ">>",
    "<=>",
    "<",
    ">",
    "<=",
    ">=",
    "==",
    "!=",
    "&",
    "^",
    "|",
    "&&",
    "||",
    "=",
    "*=",
    "/=",
    "%=",
    "+=",
    "-=",
    "<<=",
    ">>=",
    "&=",
    "^=",
    "|=",
    ",",
]
_UNARY = [
    "",
    "p++",
    "p--",
    "++",
    "--",
    "&",
    "*",
    "+",
    "-",
    "~",
    "!",
    "__real",
    "__imag",
    "__extension__",
    "co_await",
]
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_FUNCTIONS = frozenset((8, 21, 24, 25, 26, 30))
_LOOPS = frozenset((209, 225))
# What an expression that is not understood is called in a diagnostic.
_CONSTRUCTS = {
    108: "imaginary constant", 109: "", 118: "compound literal", 119: "{}",
    121: "statement expression", 122: "_Generic", 120: "label address", 132: "this",
    133: "throw", 134: "new", 135: "delete", 144: "lambda",
}  # fmt: skip
_NO_SPAN = Span("", 0)


class _Node:
    """A cursor with its children, in source order."""

    __slots__ = ("children", "cursor", "kind")

    def __init__(self, cursor: lc.Cursor) -> None:
        self.cursor = cursor
        self.kind: int = cursor.kind
        self.children: list[_Node] = []


def _key(cursor: lc.Cursor) -> int:
    # Statements, expressions and attributes are known by their own address, declarations by theirs.
    return int((cursor.data1 if 100 <= cursor.kind < 500 else cursor.data0) or 0)


def _grow(root: lc.Cursor) -> _Node:
    top = _Node(root)
    by_key = {_key(root): top}
    for cursor, parent in lc.subtree(root):
        node = _Node(cursor)
        by_key.get(_key(parent), top).children.append(node)
        by_key[_key(cursor)] = node
    return top


class PendingPragmas:
    """The directives of one file that no statement has taken yet, in source order."""

    def __init__(self, pragmas: list[Pragma]) -> None:
        self.pragmas = pragmas
        self.at = 0

    def seek(self, offset: int) -> None:
        """Goes to the first directive at or behind `offset`."""
        self.at = 0
        while self.at < len(self.pragmas) and self.pragmas[self.at].offset < offset:
            self.at += 1


class TreeBuilder:
    """Builds `Function`s from cursors; declarations are made once and shared."""

    def __init__(self, types: TypeReader, file_names: Callable[[int], str]) -> None:
        self._lib = lc.library()
        self._types = types
        self._file_name = file_names
        self._place = lc.Place()
        self._decls: dict[int, Decl] = {}
        self._cursors: dict[Decl, lc.Cursor] = {}
        self._pending: dict[int, PendingPragmas] = {}
        self._masked: set[tuple[int, int]] = set()
        self._lambdas: list[Stmt] = []
        self._home = ""
        self._scope: dict[str, Decl] = {}
        self._expressions = self._expression_table()
        self._statements = self._statement_table()

    # -- doors ----------------------------------------------------------------------------------

    def set_pragmas(self, file: int, pragmas: list[Pragma]) -> None:
        """Says which directives a file holds."""
        self._pending[file] = PendingPragmas(pragmas)

    def function(self, cursor: lc.Cursor, name: str) -> Function | None:
        """The function with its body and directives, or None where it has no body."""
        file, _, _, begin = self._begin(cursor)
        for pending in self._pending.values():
            pending.at = 0  # a file that is included inside the body begins at its first line
        if file in self._pending:
            self._pending[file].seek(begin)
        tree = _grow(cursor)
        body = next((n for n in reversed(tree.children) if n.kind == 202), None)
        if body is None:
            body = next((n for n in tree.children if n.kind == 224), None)
        if body is None:
            return None
        self._home, outer = name, self._scope
        self._scope = {}
        parameters = tuple(self._declare(n) for n in tree.children if n.kind == 10)
        built = self._statement(body)
        span = self._span(cursor)
        decl = self._decl_of(cursor)
        self._scope = outer
        return Function(name, decl, parameters, built, span)

    def cursor_of(self, decl: Decl) -> lc.Cursor | None:
        """The cursor that declared it."""
        return self._cursors.get(decl)

    # -- places ---------------------------------------------------------------------------------

    def _begin(self, cursor: lc.Cursor) -> tuple[int, int, int, int]:
        extent = self._lib.clang_getCursorExtent(cursor)
        return self._place.read(lc.Location(extent.ptr0, extent.ptr1, extent.begin))

    def _end(self, cursor: lc.Cursor) -> tuple[int, int, int, int]:
        extent = self._lib.clang_getCursorExtent(cursor)
        return self._place.read(lc.Location(extent.ptr0, extent.ptr1, extent.end))

    def _span(self, cursor: lc.Cursor) -> Span:
        file, line, column, _ = self._begin(cursor)
        return Span(self._file_name(file), line, column) if file else _NO_SPAN

    # -- declarations ---------------------------------------------------------------------------

    def _declare(self, node: _Node) -> Decl:
        decl = self._decl_of(node.cursor)
        self._scope[decl.name] = decl
        # An array extent that names a variable is resolved now that its names are in scope.
        if decl.ctype.has_spelt_extent:
            decl.ctype = self._types.resolve(decl.ctype, self._scope.get, decl.span)
        return decl

    def _decl_of(self, cursor: lc.Cursor) -> Decl:
        decl = self._decls.get(cursor.data0 or 0)
        if decl is not None:
            return decl
        canonical = self._lib.clang_getCanonicalCursor(cursor)
        decl = self._decls.get(canonical.data0 or 0)
        if decl is None:
            decl = self._make_decl(cursor)
            self._decls[canonical.data0 or 0] = decl
            self._cursors[decl] = cursor
        self._decls[cursor.data0 or 0] = decl
        return decl

    def _make_decl(self, cursor: lc.Cursor) -> Decl:
        name = lc.text(self._lib.clang_getCursorSpelling(cursor))
        kind, value = "local", None
        if cursor.kind == 10:
            kind = "parameter"
        elif cursor.kind == 6:
            kind = "field"
        elif cursor.kind == 7:
            kind = "constant"
            value = int(self._lib.clang_getEnumConstantDeclValue(cursor))
        elif cursor.kind in _FUNCTIONS:
            kind = "function"
        elif cursor.kind == 9 and self._lib.clang_Cursor_hasVarDeclGlobalStorage(cursor) == 1:
            parent = self._lib.clang_getCursorSemanticParent(cursor)
            kind = "static" if parent.kind in _FUNCTIONS else "global"
        ctype = self._types.of(self._lib.clang_getCursorType(cursor))
        decl = Decl(name, kind, ctype, self._span(cursor), home=self._home, value=value)
        if kind == "global":
            decl.home = ""
            decl.init = self._global_initialiser(cursor)
            if ctype.has_spelt_extent:
                decl.ctype = self._types.resolve(ctype, self._scope.get, decl.span)
        return decl

    def _global_initialiser(self, cursor: lc.Cursor) -> Expression | None:
        definition = self._lib.clang_getCursorDefinition(cursor)
        if definition.kind != 9:
            return None
        value = self._evaluate(definition)
        return IntLit(value) if value is not None else None

    def _evaluate(self, cursor: lc.Cursor) -> int | None:
        result = self._lib.clang_Cursor_Evaluate(cursor)
        if not result:
            return None
        value = None
        if self._lib.clang_EvalResult_getKind(result) == 1:
            value = int(self._lib.clang_EvalResult_getAsLongLong(result))
        self._lib.clang_EvalResult_dispose(result)
        return value

    # -- expressions ----------------------------------------------------------------------------

    def _expression_table(self) -> dict[int, Callable[[_Node], Expression]]:
        return {
            100: self._through,
            101: self._name,
            102: self._member,
            103: self._call,
            106: self._integer,
            107: self._floating,
            110: self._integer,
            111: self._through,
            112: self._unary,
            113: self._index,
            114: self._binary,
            115: self._binary,
            116: self._ternary,
            117: self._cast,
            118: self._opaque,
            124: self._cast,
            126: self._cast,
            127: self._cast,
            128: self._cast,
            130: self._integer,
            136: self._sizeof,
            144: self._lambda,
        }

    def _expression(self, node: _Node) -> Expression:
        build = self._expressions.get(node.kind)
        return build(node) if build else self._opaque(node)

    def _opaque(self, node: _Node) -> Expression:
        inner = tuple(self._expression(child) for child in node.children if child.kind >= 100)
        return Opaque(_CONSTRUCTS.get(node.kind, "an expression of this kind"), inner)

    def _lambda(self, node: _Node) -> Expression:
        self._lambdas += [self._statement(child) for child in node.children if child.kind == 202]
        return Opaque("lambda")

    def _through(self, node: _Node) -> Expression:
        while len(node.children) == 1 and node.kind in (100, 111):
            node = node.children[0]
        if node.kind in (100, 111):
            return self._integer(node) if not node.children else self._opaque(node)
        return self._expression(node)

    def _referenced(self, node: _Node) -> Decl | None:
        target = self._lib.clang_getCursorReferenced(node.cursor)
        if target.kind in (9, 10, 7, 6, 28) or target.kind in _FUNCTIONS:
            return self._decl_of(target)
        return None

    def _name(self, node: _Node) -> Expression:
        decl = self._referenced(node)
        if decl is None:
            return Opaque(lc.text(self._lib.clang_getCursorSpelling(node.cursor)))
        if decl.value is not None:
            return IntLit(decl.value)
        return Name(decl, _NO_SPAN)

    def _member(self, node: _Node) -> Expression:
        field = self._referenced(node)
        bases = [child for child in node.children if child.kind >= 100]
        base = self._expression(bases[0]) if bases else None
        if field is None:
            name = lc.text(self._lib.clang_getCursorSpelling(node.cursor))
            return Opaque(name, (base,) if base is not None else ())
        if field.kind == "function":
            return Opaque(field.name, (base,) if base is not None else ())
        # A pointer, or an array that decays to one: the base's own type says so.
        arrow = bool(bases) and self._types.of(
            self._lib.clang_getCursorType(bases[0].cursor)
        ).kind in ("pointer", "array")
        return Member(base, field, arrow, _NO_SPAN)

    def _call(self, node: _Node) -> Expression:
        target = self._lib.clang_getCursorReferenced(node.cursor)
        children = node.children
        name = lc.text(self._lib.clang_getCursorSpelling(node.cursor))
        if not name and children:  # (f)(x), (*f)(x): the library looks through no parentheses
            callee = _bare_callee(children[0])
            target = self._lib.clang_getCursorReferenced(callee.cursor)
            if callee.kind in (101, 102):
                name = lc.text(self._lib.clang_getCursorSpelling(callee.cursor))
        decl = self._decl_of(target) if target.kind in _FUNCTIONS else None
        span = self._span(node.cursor)
        if decl is not None and name.startswith("operator"):
            return self._operator(name, children, decl, span)
        if decl is not None and target.kind == 24:  # a constructor: a conversion or a copy
            inner = tuple(self._expression(c) for c in children if c.kind >= 100)
            return inner[0] if len(inner) == 1 else Opaque(name, inner)
        args = tuple(self._expression(c) for c in children[1:])
        if children and children[0].kind == 102:
            base = self._expression(children[0])
            if isinstance(base, Opaque):  # a method's object is its first operand
                args = base.children + args
        return CallExpr(name or "(pointer)", decl, args, span)

    def _operator(self, name: str, children: list[_Node], decl: Decl, span: Span) -> Expression:
        # An overloaded operator's children are its operands with the operator's name among them.
        operands = [self._expression(c) for c in children if not _names_operator(c)]
        op = name[len("operator") :].strip()
        if op in ("[]", "()") and len(operands) >= 2:
            result: Expression = operands[0]
            for index in operands[1:]:
                result = Index(result, index, span)
            return result
        if op.endswith("=") and op not in ("==", "!=", "<=", ">=") and len(operands) == 2:
            return Assign(op, operands[0], operands[1], span)
        if len(operands) == 2 and op in ("+", "-", "*", "/", "%", *_COMPARISONS):
            return Binary(op, operands[0], operands[1])
        if len(operands) == 1 and op in ("*", "-", "++", "--", "!"):
            return Unary(op, operands[0], span)
        return CallExpr(name, decl, tuple(operands), span)

    def _integer(self, node: _Node) -> Expression:
        value = self._evaluate(node.cursor)
        return IntLit(value) if value is not None else Opaque("?")

    def _sizeof(self, node: _Node) -> Expression:
        value = self._evaluate(node.cursor)
        return IntLit(value) if value is not None else Opaque("sizeof")

    def _floating(self, node: _Node) -> Expression:
        kind = self._lib.clang_getCursorType(node.cursor).kind
        result = self._lib.clang_Cursor_Evaluate(node.cursor)
        value = 0.0
        if result:
            value = self._lib.clang_EvalResult_getAsDouble(result)
            self._lib.clang_EvalResult_dispose(result)
        return FloatLit(32 if kind == 21 else 64, value)

    def _unary(self, node: _Node) -> Expression:
        op = _UNARY[self._lib.clang_getCursorUnaryOperatorKind(node.cursor)]
        operand = self._expression(node.children[0]) if node.children else Opaque("?")
        if op in ("+", "__extension__", "__real"):
            return operand
        if op == "-" and isinstance(operand, IntLit):
            return IntLit(-operand.value)
        if op == "-" and isinstance(operand, FloatLit):
            return FloatLit(operand.bits, -operand.value)
        return Unary(op, operand, self._span(node.cursor) if op == "*" else _NO_SPAN)

    def _index(self, node: _Node) -> Expression:
        if len(node.children) != 2:
            return self._opaque(node)
        base, index = node.children
        # The place of a chain a[i][j] is that of its start, read once, at the outermost.
        span = self._span(node.cursor)
        return Index(self._expression(base), self._expression(index), span)

    def _binary(self, node: _Node) -> Expression:
        if len(node.children) != 2:
            return self._opaque(node)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        left, right = (self._expression(child) for child in node.children)
        if op.endswith("=") and op not in _COMPARISONS:
            return Assign(op, left, right, _NO_SPAN)
        return Binary(op, left, right)

    def _ternary(self, node: _Node) -> Expression:
        if len(node.children) != 3:
            return self._opaque(node)
        condition, then, other = (self._expression(child) for child in node.children)
        return Ternary(condition, then, other)

    def _cast(self, node: _Node) -> Expression:
        # The extents of a type like `double (*)[n]` are children too, in front of the operand.
        operands = [child for child in node.children if child.kind >= 100]
        if not operands:
            return self._opaque(node)
        ctype = self._types.of(self._lib.clang_getCursorType(node.cursor))
        if ctype.has_spelt_extent:
            ctype = self._types.resolve(ctype, self._scope.get, _NO_SPAN)
        return Cast(ctype, self._expression(operands[-1]))

    # -- statements -----------------------------------------------------------------------------

    def _statement_table(self) -> dict[int, Callable[[_Node, tuple[int, int, int, int]], Stmt]]:
        return {
            201: self._inner,
            202: self._compound,
            203: lambda node, at: Compound(tuple(self._statement(c) for c in node.children[-1:])),
            204: self._inner,
            205: self._if,
            206: self._switch,
            207: self._while,
            208: self._do,
            209: self._for,
            210: lambda node, at: Jump("goto", self._at(at)),
            212: lambda node, at: Jump("continue", self._at(at)),
            213: lambda node, at: Jump("break", self._at(at)),
            214: self._return,
            215: lambda node, at: Unread("assembler", (), self._at(at)),
            224: self._inner,
            225: self._range_for,
            230: lambda node, at: Compound(()),
            231: self._decl_stmt,
        }

    def _at(self, at: tuple[int, int, int, int]) -> Span:
        return Span(self._file_name(at[0]), at[1], at[2]) if at[0] else _NO_SPAN

    def _statement(self, node: _Node) -> Stmt:
        """A statement with the directives in front of it, and the bodies of its lambdas behind."""
        outer, self._lambdas = self._lambdas, []
        built = self._directed_statement(node)
        bodies, self._lambdas = self._lambdas, outer
        return Compound((built, *bodies)) if bodies else built

    def _directed_statement(self, node: _Node) -> Stmt:
        node = _without_attributes(node)
        at = self._begin(node.cursor)
        pending = self._pending.get(at[0])
        if pending is not None:
            taken = self._take(pending, node, at)
            if taken:
                built = self._plain_statement(node, at)
                for pragma in reversed(taken):
                    built = self._directive(pragma, built, at[0])
                self._masked.discard((at[0], at[3]))
                return built
        return self._plain_statement(node, at)

    def _take(
        self, pending: PendingPragmas, node: _Node, at: tuple[int, int, int, int]
    ) -> list[Pragma]:
        taken: list[Pragma] = []
        while pending.at < len(pending.pragmas):
            pragma = pending.pragmas[pending.at]
            if pragma.offset > at[3]:
                break
            if pragma.offset == at[3]:
                # Of one macro: a second region's directive waits for the second loop.
                waits = bool(taken) and not pragma.joined
                misplaced = node.kind == 202 or (pragma.is_loop and node.kind not in _LOOPS)
                if waits or misplaced or (at[0], at[3]) in self._masked:
                    break
                self._masked.add((at[0], at[3]))
            taken.append(pragma)
            pending.at += 1
        return taken

    def _directive(self, pragma: Pragma, body: Stmt, file: int) -> Stmt:
        span = Span(self._file_name(file), pragma.line, pragma.column)
        if pragma.standalone:
            return Compound((Directive(pragma, None, span), body))
        return Directive(pragma, body, span)

    def _plain_statement(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        build = self._statements.get(node.kind)
        if build:
            return build(node, at)
        if 100 <= node.kind < 200:
            return ExprStmt(self._expression(node), self._at(at))
        inner = tuple(self._expression(c) for c in node.children if 100 <= c.kind < 200)
        return Unread("statement", inner, self._at(at))

    def _inner(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        return Compound(tuple(self._statement(c) for c in node.children if c.kind >= 100))

    def _compound(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        items = [self._statement(child) for child in node.children]
        pending = self._pending.get(at[0])
        if pending is not None and pending.at < len(pending.pragmas):
            end = self._end(node.cursor)[3]
            while pending.at < len(pending.pragmas) and pending.pragmas[pending.at].offset < end:
                pragma = pending.pragmas[pending.at]
                if pragma.offset == at[3]:
                    break
                span = Span(self._file_name(at[0]), pragma.line, pragma.column)
                items.append(Directive(pragma, None, span))
                pending.at += 1
        return Compound(tuple(items))

    def _decl_stmt(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        decls = []
        for child in node.children:
            if child.kind == 9:
                decl = self._declare(child)
                if decl.init is None:
                    decl.init = self._initialiser(child)
                decls.append(decl)
        return DeclStmt(tuple(decls), self._at(at))

    def _initialiser(self, node: _Node) -> Expression | None:
        # Array extents are children too: the library says which one is the value.
        value = _key(self._lib.clang_Cursor_getVarDeclInitializer(node.cursor))
        for child in node.children:
            if value and child.kind >= 100 and _key(child.cursor) == value:
                return self._expression(child)
        return None

    def _condition_of(self, node: _Node) -> Expression:
        return self._expression(node) if 100 <= node.kind < 200 else Opaque("?")

    def _if(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        leading: list[Stmt] = []
        while len(parts) > 2 and parts[0].kind == 231:
            leading.append(self._statement(parts.pop(0)))
        if len(parts) < 2:
            return Unread("if", (), self._at(at))
        condition = self._condition_of(parts[0])
        then = self._statement(parts[1])
        other = self._statement(parts[2]) if len(parts) > 2 else None
        built = If(condition, then, other, self._at(at))
        return Compound((*leading, built)) if leading else built

    def _switch(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("switch", (), self._at(at))
        return Switch(self._condition_of(parts[-2]), self._statement(parts[-1]), self._at(at))

    def _while(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if len(parts) < 2:
            return Unread("while", (), self._at(at))
        condition = self._condition_of(parts[-2])
        return While(condition, self._statement(parts[-1]), self._at(at))

    def _do(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        if len(node.children) < 2:
            return Unread("do", (), self._at(at))
        body = self._statement(node.children[0])
        return While(self._condition_of(node.children[1]), body, self._at(at))

    def _for(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("for", (), self._at(at))
        init, condition, increment = self._for_header(parts[:-1])
        first = self._plain_statement(init, self._begin(init.cursor)) if init else None
        test = self._condition_of(condition) if condition else None
        step = self._condition_of(increment) if increment else None
        body = self._statement(parts[-1])
        last_line = self._end(node.cursor)[1]
        return For(first, test, step, body, self._at(at), last_line)

    def _for_header(self, parts: list[_Node]) -> tuple[_Node | None, _Node | None, _Node | None]:
        if len(parts) >= 3:
            return parts[0], parts[-2], parts[-1]
        init = condition = increment = None
        for part in parts:  # a part is missing: tell them apart by what they are
            if part.kind == 231 and init is None:
                init = part
            elif self._compares(part) and condition is None:
                condition = part
            elif condition is None and init is None and part is parts[0] and len(parts) == 2:
                init = part
            else:
                increment = part
        return init, condition, increment

    def _compares(self, node: _Node) -> bool:
        while node.kind in (100, 111) and len(node.children) == 1:
            node = node.children[0]
        if node.kind != 114:
            return node.kind in (101, 102, 113)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        return op in _COMPARISONS or op in ("&&", "||")

    def _range_for(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        variable = next((self._declare(c) for c in node.children if c.kind == 9), None)
        parts = [c for c in node.children if c.kind >= 100]
        if not parts:
            return Unread("range for", (), self._at(at))
        value = self._condition_of(parts[0]) if len(parts) > 1 else None
        return RangeFor(variable, value, self._statement(parts[-1]), self._at(at))

    def _return(self, node: _Node, at: tuple[int, int, int, int]) -> Stmt:
        value = self._expression(node.children[0]) if node.children else None
        return Return(value, self._at(at))


def _bare_callee(node: _Node) -> _Node:
    while len(node.children) == 1 and node.kind in (100, 111, 112):
        node = node.children[0]
    return node


def _without_attributes(node: _Node) -> _Node:
    """The loop behind a `#pragma unroll`, which the library shows as an attribute around it."""
    while node.kind == 200:
        inner = [child for child in node.children if 200 <= child.kind < 300]
        if not inner:
            break
        node = inner[-1]
    return node


def _names_operator(node: _Node) -> bool:
    while node.kind == 100 and len(node.children) == 1:
        node = node.children[0]
    return node.kind == 101 and lc.text(
        lc.library().clang_getCursorSpelling(node.cursor)
    ).startswith("operator")
