"""Finds the operations, array accesses, calls and scalars of a C expression."""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.lowering.constant_numbers import division_kind
from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.operand_paths import (
    OperandPaths,
    Paths,
    element_key,
    element_text,
    longest_paths,
    with_conversion,
    with_operation,
)
from regionpredict.frontend.lowering.shared_names import containing_variable
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    DOUBLE,
    INCREMENT_OPERATORS,
    INT,
    LONG,
    UNKNOWN,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    FloatLit,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    address_of,
    ends_here,
    is_memory,
    is_place,
    member_named,
    show,
)
from regionpredict.frontend.syntax.integer_types import promoted, type_of, usual
from regionpredict.ir import Access, Call, Operation, Span, Statement
from regionpredict.library import (
    MemoryIntrinsic,
    arithmetic_of,
    costs_nothing,
    ends_run,
    memory_intrinsic,
    place_argument,
    touches_no_memory,
    written_arguments,
)

_ARITHMETIC = {"+": "add", "-": "add", "*": "mul", "/": "div", "%": "div"}
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_BITWISE = frozenset(("&", "|", "^", "<<", ">>"))
_SQRT = frozenset(("sqrt", "sqrtf", "sqrtl", "__builtin_sqrt", "__builtin_sqrtf"))
_NEGATE = frozenset(("fabs", "fabsf", "fabsl", "abs", "labs", "__builtin_fabs"))
_SELECT = frozenset(("fmin", "fmax", "fminf", "fmaxf", "min", "max", "std::min", "std::max"))
_FLOATING_SELECT = frozenset(("fmin", "fmax", "fminf", "fmaxf"))
_WITHOUT_COST = frozenset((
    "omp_get_thread_num", "omp_get_num_threads", "__builtin_expect",
))  # fmt: skip

_WITHOUT_EFFECT = frozenset(("", "sizeof", "this", "{}"))

FollowCall = Callable[[CallExpr, Frame, bool], "CType | CallExpr | None"]


class Tally:
    """Collects the operations, memory accesses and calls of one statement.

    `follow` inlines a call with a visible body and returns its type. For a function pointer,
    `follow` may return a library call, and for other calls None. The last parameter of `follow`
    says whether the call is conditional, as in `c && f(i)` and `c ? f(i) : 0`. `paths`
    are the dependency paths from scalars to the value of the expression visited last.
    """

    def __init__(
        self, context: Context, frame: Frame, span: Span, follow: FollowCall, operands: OperandPaths
    ) -> None:
        self.context = context
        self.frame = frame
        self.span = span
        self.follow = follow
        self.operands = operands
        self.paths: Paths = {}
        self.operations: dict[Operation, int] = {}
        self.accesses: list[Access] = []
        self.calls: list[Call] = []
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.unsupported: list[str] = []
        self._address_depth = 0
        self._conditional_depth = 0

    def statement(self, text: str, role: str) -> Statement:
        """Returns the IR statement with all collected effects."""
        return Statement(
            text,
            self.span,
            tuple(sorted(self.operations.items())),
            tuple(self.accesses),
            tuple(self.calls),
            frozenset(self.reads),
            frozenset(self.writes),
            role,
            tuple(sorted(self._scalar_paths().items())) if self.writes else (),
            tuple(sorted(self._element_paths().items())),
            max(self.paths.values(), key=len, default=()),
        )

    def _scalar_paths(self) -> Paths:
        return {name: path for name, path in self.paths.items() if element_text(name) is None}

    def _element_paths(self) -> Paths:
        """Returns the dependency paths from each array element that the statement also writes."""
        written = {access.text for access in self.accesses if access.kind == "write"}
        elements = {element_text(name): path for name, path in self.paths.items()}
        return {text: path for text, path in elements.items() if text in written and text}

    def declared(self, decl: Decl, ctype: CType) -> None:
        """Records the declaration of a variable, whose initializer was visited last and has the
        type `ctype`.
        """
        name = self.context.name_of(decl, self.frame.depth)
        self.writes.add(name)
        self.operands.forget_argument(name)
        self.paths = with_conversion(self.paths, ctype, decl.ctype)

    def count(self, kind: str, bits: int) -> None:
        """Adds one operation, unless it is arithmetic that only computes an address."""
        if not self._address_depth or kind.startswith("call:"):
            operation = Operation(kind, bits)
            self.operations[operation] = self.operations.get(operation, 0) + 1

    def _count_on_path(self, kind: str, bits: int) -> None:
        """Counts an operation, and appends it to the dependency paths of the value visited last."""
        self.count(kind, bits)
        self.paths = with_operation(self.paths, kind)

    # -- expressions ----------------------------------------------------------------------------

    def visit(self, expression: Expression) -> CType:
        """Counts the operations and reads of an expression, and returns its type."""
        self.paths = {}
        if ends_here(expression):  # the program ends here, so its cost does not matter
            return UNKNOWN
        handler = _VISITORS.get(type(expression))
        return handler(self, expression) if handler else UNKNOWN

    def _visit_literal(self, expression: IntLit | FloatLit) -> CType:
        if isinstance(expression, IntLit):
            return CType("int", expression.bits, expression.unsigned)
        return CType("float", expression.bits)

    def _visit_name(self, expression: Name) -> CType:
        decl = expression.decl
        if decl.ctype.kind not in ("array", "pointer"):
            name = self.context.name_of(decl, self.frame.depth)
            self.reads.add(name)
            self.paths = self.operands.paths_of_scalar(name)
        return decl.ctype

    def _visit_memory(self, expression: Expression, kind: str) -> CType:
        """Visits the address of an lvalue in memory, and records a read or write (`kind`)."""
        ctype = self._address_of(expression)
        if ctype.kind in ("array",):
            return ctype
        self.paths = with_operation(self.paths, "load")
        place = self.context.element(expression, self.frame)
        if place is not None:
            self._record_access(expression, place, kind, ctype)
        elif not self._record_scalar_member(expression, kind, ctype):
            self.unsupported.append(f"the memory that {show(expression)} points to")
        return ctype

    def _record_scalar_member(self, expression: Expression, kind: str, ctype: CType) -> bool:
        """Records the access to a struct member like that of a scalar variable. Returns False if
        the member belongs to an array element or to an unknown object.
        """
        if not isinstance(expression, Member):
            return False
        if _is_member_of_temporary(expression):
            return True
        if isinstance(expression.base, (CallExpr, Opaque, Ternary, Assign)):
            return False
        name = self.context.path(expression, self.frame)
        if name is None:
            return False
        self.context.member_homes.setdefault(
            name, containing_variable(expression, self.context, self.frame)
        )
        if kind == "write":
            self.writes.add(name)
            self.operands.forget_argument(name)
        elif ctype.kind not in ("array", "pointer"):
            self.reads.add(name)
            self.paths = self.operands.paths_of_scalar(name)
        return True

    def _record_access(
        self, expression: Expression, place: Pointer, kind: str, ctype: CType
    ) -> None:
        span = getattr(expression, "span", None)
        if span is None or not span.line:
            span = self.span
        if place.array not in self.context.arrays:  # `*p` is the scalar `x` if `p = &x`
            (self.reads if kind == "read" else self.writes).add(place.array)
            self.paths = {place.array: ()} if kind == "read" else {}
            return
        bytes_moved = ctype.bytes
        self.accesses.append(
            Access(
                place.array,
                kind,
                place.subscripts,
                show(expression),
                span,
                bytes_moved,
                place.member,
                place.offset,
            )
        )
        if kind == "read":
            self.paths = {**self.paths, element_key(show(expression)): ()}

    def _address_of(self, expression: Expression) -> CType:
        """Visits the parts of an lvalue's address, and returns the lvalue's type."""
        if isinstance(expression, Index):
            base = self._visit_base(expression.base)
            to_base = self.paths
            self._address_depth += 1
            self.visit(expression.index)
            self._address_depth -= 1
            self.paths = longest_paths(to_base, self.paths)
            if base.element is not None:
                return base.element
            return base if base.kind == "struct" else UNKNOWN
        if isinstance(expression, Member):
            if expression.base is not None:
                self._visit_base(expression.base)
            return expression.field.ctype
        if isinstance(expression, Unary):
            inner = self._visit_base(expression.operand)
            return inner.element or UNKNOWN
        return self.visit(expression)

    def _visit_base(self, expression: Expression) -> CType:
        # The subscript `a[i]` of a declared array `a[i][j]` reads no memory. For an array of
        # pointers, it loads an address, which stays in cache during the inner loop. Neither counts.
        while isinstance(expression, Cast) and _is_reference(expression):
            expression = expression.operand
        if is_memory(expression):
            return self._address_of(expression)
        self._address_depth += 1
        ctype = self.visit(expression)
        self._address_depth -= 1
        return ctype

    def _visit_index(self, expression: Index) -> CType:
        return self._visit_memory(expression, "read")

    def _visit_member(self, expression: Member) -> CType:
        return self._visit_memory(expression, "read")

    def _visit_unary(self, expression: Unary) -> CType:
        op = expression.op
        if op == "*":
            return self._visit_memory(expression, "read")
        if op == "&":
            inner = self._visit_base(expression.operand)
            return CType("pointer", 64, element=inner)
        if op in INCREMENT_OPERATORS:
            return self._visit_increment(expression)
        ctype = self.visit(expression.operand)
        if op == "-":
            ctype = promoted(ctype)
            self._count_on_path("fp_neg" if ctype.kind == "float" else "int_add", ctype.bits or 64)
        elif op == "~":
            ctype = promoted(ctype)
            self._count_on_path("int_logic", ctype.bits or 32)
        return INT if op == "!" else ctype

    def _visit_increment(self, expression: Unary) -> CType:
        operand = expression.operand
        if isinstance(operand, Name):
            ctype = operand.decl.ctype
            if ctype.kind != "pointer":
                name = self.context.name_of(operand.decl, self.frame.depth)
                self.reads.add(name)
                self.writes.add(name)
                self.paths = self.operands.paths_of_scalar(name)
                self.operands.forget_argument(name)
                self._count_increment(ctype)
            return ctype
        ctype = self._visit_update(operand)
        self._count_increment(ctype)
        return ctype

    def _count_increment(self, ctype: CType) -> None:
        floating = ctype.kind == "float"
        self._count_on_path("fp_add" if floating else "int_add", promoted(ctype).bits or 32)

    def _visit_update(self, target: Expression) -> CType:
        if is_memory(target):
            ctype = self._visit_memory(target, "read")
            place = self.context.element(target, self.frame)
            if place is not None:
                self._record_access(target, place, "write", ctype)
            elif isinstance(target, Member):
                self._record_scalar_member(target, "write", ctype)
            return ctype
        return self._record_unnamed_target(target)

    def _record_unnamed_target(self, target: Expression) -> CType:
        """Records a write to an lvalue without a name, such as a reference that a function
        returns, as unsupported.
        """
        ctype = self.visit(target)
        if isinstance(target, Name):
            return ctype
        self.unsupported.append(f"the address of {show(target)}")
        return ctype

    def _visit_binary(self, expression: Binary) -> CType:
        op, left = expression.op, self.visit(expression.left)
        to_left = self.paths
        if op in ("&&", "||"):
            self._visit_conditional(expression.right)
            self.paths = {}  # the processor predicts the branch, so no later operation waits
            return INT
        right = self.visit(expression.right)
        if op in (",",):
            return right
        to_right = self.paths
        self.paths = longest_paths(to_left, to_right)
        for side in (left, right):
            if side.kind in ("pointer", "array"):
                return (
                    INT if op in _COMPARISONS or (op == "-" and left.kind == right.kind) else side
                )
        ctype = promoted(left) if op in ("<<", ">>") else usual(left, right)
        floating = ctype.kind == "float"
        self.paths = longest_paths(
            with_conversion(to_left, left, ctype), with_conversion(to_right, right, ctype)
        )
        prefix, bits = ("fp_" if floating else "int_"), ctype.bits or 64
        if op in _ARITHMETIC:
            kind = prefix + _ARITHMETIC[op]
            self._count_on_path(
                division_kind(kind, op, expression.left, expression.right, ctype), bits
            )
            return ctype
        if op in _COMPARISONS:
            self._count_on_path(prefix + "compare", bits)
            return INT
        if op in _BITWISE:
            self._count_on_path("int_logic", bits)
        return ctype

    def _visit_assign(self, expression: Assign) -> CType:
        target, op = expression.left, expression.op
        self.paths = {}
        if isinstance(target, Name):
            decl = target.decl
            name = self.context.name_of(decl, self.frame.depth)
            if op != "=" and decl.ctype.kind != "pointer":
                self.reads.add(name)
                self.paths = self.operands.paths_of_scalar(name)
            self.writes.add(name)
            ctype = decl.ctype
        elif op != "=":
            ctype = self._visit_update(target)
        elif is_memory(target):
            ctype = self._visit_memory(target, "write")
        else:
            ctype = self._record_unnamed_target(target)
        to_left = self.paths if op != "=" else {}
        right = self.visit(expression.right)
        if op != "=" and ctype.kind not in ("pointer", "array"):
            shift = op in ("<<=", ">>=")
            worked = promoted(ctype) if shift else usual(ctype, right)
            self.paths = longest_paths(
                with_conversion(to_left, ctype, worked), with_conversion(self.paths, right, worked)
            )
            self._count_compound(op[:-1], expression.right, worked)
            self.paths = with_conversion(self.paths, worked, ctype)
        else:
            self.paths = with_conversion(self.paths, right, ctype)
        if isinstance(target, Name):
            self.operands.forget_argument(name)
        return ctype

    def _count_compound(self, op: str, right: Expression, ctype: CType) -> None:
        prefix = "fp_" if ctype.kind == "float" else "int_"
        if op in _ARITHMETIC:
            kind = division_kind(prefix + _ARITHMETIC[op], op, None, right, ctype)
            self._count_on_path(kind, ctype.bits or 64)
        elif op in _BITWISE:
            self._count_on_path("int_logic", ctype.bits or 64)

    def _visit_ternary(self, expression: Ternary) -> CType:
        self.visit(expression.condition)
        to_condition = self.paths
        then = self._visit_conditional(expression.then)
        to_then = self.paths
        other = self._visit_conditional(expression.other)
        ctype = usual(then, other)
        self.paths = longest_paths(
            to_condition,
            with_conversion(to_then, then, ctype),
            with_conversion(self.paths, other, ctype),
        )
        return ctype

    def _visit_conditional(self, expression: Expression) -> CType:
        """Visits an operand that is evaluated only under a condition, and returns its type."""
        self._conditional_depth += 1
        ctype = self.visit(expression)
        self._conditional_depth -= 1
        return ctype

    def _visit_call(self, expression: CallExpr) -> CType:
        followed = self.follow(expression, self.frame, self._conditional_depth > 0)
        if isinstance(followed, CallExpr):
            expression = followed  # the target of a pointer
        elif followed is not None:
            self.paths = self.operands.paths_of_call(expression)
            return followed
        if expression.free:
            return LONG
        types, to_arguments = [], []
        for argument in expression.args:
            types.append(self.visit(argument))
            to_arguments.append(self.paths)
        self.paths = longest_paths(*to_arguments)
        ctype = expression.decl.ctype if expression.decl is not None else UNKNOWN
        name = expression.name
        if name in _SQRT:
            single = name.endswith("f") or (ctype.kind == "float" and ctype.bits == 32)
            self._count_on_path("fp_sqrt", 32 if single else 64)
            return ctype if ctype.kind == "float" else DOUBLE
        if name in _NEGATE:
            floating = name not in ("abs", "labs") or ctype.kind == "float"
            self._count_on_path("fp_neg" if floating else "int_add", (ctype.bits or 64))
        elif name in _SELECT:
            known = name in _FLOATING_SELECT or len(types) != 2
            ctype = ctype if known else usual(types[0], types[1])
            self._count_on_path(
                "fp_compare" if ctype.kind == "float" else "int_compare", ctype.bits or 64
            )
        elif name not in _WITHOUT_COST and not ends_run(name):
            self._library_call(expression, ctype)
        return ctype

    def _library_call(self, call: CallExpr, ctype: CType) -> None:
        """Records a call of a function without a visible body, with the effects of known library
        functions.
        """
        name = call.name
        arithmetic = arithmetic_of(name, call.declared_in)
        moved = memory_intrinsic(name)
        if arithmetic is not None:
            for kind in arithmetic.kinds:
                for _ in range(arithmetic.lanes):
                    self.count(kind, arithmetic.bits)
                self.paths = with_operation(self.paths, kind)
            return
        if moved is not None and self._vector_move(call, moved):
            return
        written = written_arguments(name, len(call.args), call.declared_in)
        seen = all(self._record_written_argument(call, position) for position in written)
        place = self._lock_access(call)
        known = bool(written and seen) or place is not None
        known = known or touches_no_memory(name, call.declared_in)
        if known and costs_nothing(name, call.declared_in):
            return
        self._count_on_path(f"call:{name}", ctype.bits or 64)
        self.calls.append(Call(name, call.span, memory=not known, place=place))

    def _lock_access(self, call: CallExpr) -> Access | None:
        """Returns a write to the lock that a call acquires or releases, or to the variable that it
        updates atomically.
        """
        position = place_argument(call.name)
        if position is None or position >= len(call.args):
            return None
        argument = call.args[position]
        place = self.context.address_in(argument, self.frame)
        if place is None:
            return None
        return Access(
            place.array, "write", place.subscripts, show(argument).lstrip("&"), call.span,
            place.pointee.bytes, place.member, place.offset,
        )  # fmt: skip

    def _vector_move(self, call: CallExpr, moved: MemoryIntrinsic) -> bool:
        """Records a vector load or store. Returns False if its address is unknown."""
        if moved.argument >= len(call.args):
            return False
        argument = call.args[moved.argument]
        place = self.context.address_in(argument, self.frame)
        if place is None:
            return False
        if moved.lanes > 1:
            place = place.plus(self.context.varying(call.name))
        for _ in range(moved.lanes):
            self._record_access(argument, place, moved.kind, CType("float", 8 * moved.bytes))
        return True

    def _record_written_argument(self, call: CallExpr, position: int) -> bool:
        argument = call.args[position]
        place = self.context.address_in(argument, self.frame)
        if place is None and is_place(argument):  # an object that is passed by reference
            place = self.context.address_in(address_of(argument, call.span), self.frame)
        if place is None:
            return False
        if place.array not in self.context.arrays:  # a variable, whose old value also matters
            name = place.array.lstrip("&")
            self.reads.add(name)
            self.writes.add(name)
        else:
            self._record_access(argument, place, "write", place.pointee)
        return True

    def _visit_cast(self, expression: Cast) -> CType:
        ctype = self.visit(expression.operand)
        self.paths = with_conversion(self.paths, ctype, expression.ctype)
        return expression.ctype

    def _visit_opaque(self, expression: Opaque) -> CType:
        to_children = []
        for child in expression.children:
            self.visit(child)
            to_children.append(self.paths)
        self.paths = longest_paths(*to_children)
        if expression.text == "lambda":  # the body is counted where the lambda is called
            return CType("pointer", 64)
        if expression.text == "new":  # of a class; its constructor was visited as a child
            self._count_on_path("call:malloc", 64)
            return UNKNOWN
        quiet = expression.text in _WITHOUT_EFFECT or member_named(expression) is not None
        if not quiet and not self._address_depth:
            self.unsupported.append(expression.text)
        return UNKNOWN


def _is_member_of_temporary(member: Member) -> bool:
    """Returns whether the member belongs to a temporary object of an expression: `f(x).re`,
    or `v.re` where the reference `v` is bound to `a + b`.
    """
    base = member.base
    while isinstance(base, Cast) and _is_reference(base):
        base = base.operand
    if isinstance(base, (CallExpr, Opaque, Ternary, Assign)):
        return not member.arrow or type_of(base).kind == "struct"
    return isinstance(base, Cast)


def _is_reference(cast: Cast) -> bool:
    """Returns whether the cast converts a reference to another class, such as `static_cast<Base
    &>(x)`.
    """
    return cast.ctype.kind == "struct" and cast.constructor is None


_VISITORS: dict[type, Callable[..., CType]] = {
    IntLit: Tally._visit_literal,
    FloatLit: Tally._visit_literal,
    Name: Tally._visit_name,
    Index: Tally._visit_index,
    Member: Tally._visit_member,
    Unary: Tally._visit_unary,
    Binary: Tally._visit_binary,
    Assign: Tally._visit_assign,
    Ternary: Tally._visit_ternary,
    CallExpr: Tally._visit_call,
    Cast: Tally._visit_cast,
    Opaque: Tally._visit_opaque,
}
