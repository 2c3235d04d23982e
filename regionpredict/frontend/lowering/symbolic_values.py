"""The symbolic side of lowering: what the integers and pointers of a region are worth.

A `Context` follows one region: it gives each variable a name that is unique in the region, keeps
what each integer and each pointer is known to hold at this point, and turns C expressions into
`Expr`s and `Pointer`s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    UNKNOWN,
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    CType,
    Decl,
    Expression,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Return,
    Ternary,
    Unary,
    show,
)
from regionpredict.ir import Array, Expr, Span
from regionpredict.ir.expr import ONE, ZERO

_MAX_INLINE = 6
_MAX_SIZE = 80  # parts; longer expressions help nobody and cost time
_MIN = frozenset(("min", "MIN", "fmin", "fminf", "imin", "std::min"))
_MAX = frozenset(("max", "MAX", "fmax", "fmaxf", "imax", "std::max"))
_COMPARE = {"<": "lt", "<=": "le", "==": "eq"}
_MIRROR = {">": "<", ">=": "<="}


class Pointer(NamedTuple):
    """The address `&array[subscripts]`; adding to it moves the last subscript.

    `pointee` is the type it points to, `member` the field of a struct element it lies in.
    """

    array: str
    subscripts: tuple[Expr, ...]
    pointee: CType
    member: str = ""

    def plus(self, distance: Expr) -> Pointer:
        """The pointer moved by so many elements."""
        return self._replace(subscripts=(*self.subscripts[:-1], self.subscripts[-1] + distance))


Value = Expr | Pointer


class Frame(NamedTuple):
    """One function being lowered: what its variables hold, by declaration."""

    env: dict[Decl, Value]
    depth: int = 0


class Context:
    """Names, values and arrays of one region."""

    def __init__(self, body_of: Callable[[Decl], Function | None]) -> None:
        self.body_of = body_of
        self.arrays: dict[str, Array] = {}
        self.private: set[Decl] = set()  # declared inside the region
        self.private_names: set[str] = set()  # listed in private clauses
        self.invariants: dict[str, Decl] = {}
        self.open_loops: list[str] = []
        self._names: dict[tuple[Decl, int], str] = {}
        self._taken: dict[str, tuple[Decl, int]] = {}

    # -- names ----------------------------------------------------------------------------------

    def name_of(self, decl: Decl, instance: int = 0) -> str:
        """The name a variable has in this region: its own, or primed where two share it."""
        key = (decl, instance if decl.kind in ("local", "parameter") else 0)
        name = self._names.get(key)
        if name is None:
            name = decl.name or "?"
            while self._taken.setdefault(name, key) != key:
                name += "'"
            self._names[key] = name
        return name

    def named(self) -> Mapping[str, tuple[Decl, int]]:
        """The variable that each name so far means, and how many calls deep it is declared."""
        return self._taken

    def varying(self, name: str) -> Expr:
        """A value that changes with the loops around it in a way that is not understood."""
        return Expr.atom("varying", label=name, over=self.open_loops)

    # -- integers -------------------------------------------------------------------------------

    def value(self, expression: Expression | None, frame: Frame) -> Expr:
        """The integer value of an expression, as far as it can be told and stays readable."""
        result = self._value(expression, frame)
        if result.size <= _MAX_SIZE:
            return result
        over = result.names & set(self.open_loops)
        return Expr.atom("varying", label="...", over=over)

    def _value(self, expression: Expression | None, frame: Frame) -> Expr:
        if isinstance(expression, IntLit):
            return Expr.const(expression.value)
        if isinstance(expression, Name):
            return self._variable(expression.decl, frame)
        if isinstance(expression, Binary):
            return self._binary(expression, frame)
        if isinstance(expression, Cast):
            return self.value(expression.operand, frame)
        if isinstance(expression, Unary):
            return self._unary(expression, frame)
        if isinstance(expression, (Index, Member)):
            return self._loaded(expression, frame)
        if isinstance(expression, Ternary):
            return self._ternary(expression, frame)
        if isinstance(expression, CallExpr):
            return self._called(expression, frame)
        if isinstance(expression, Assign):
            return self.value(expression.right, frame)
        if isinstance(expression, Opaque) and expression.text.isidentifier():
            return Expr.name(expression.text)
        return self.varying("?")

    def _variable(self, decl: Decl, frame: Frame) -> Expr:
        held = frame.env.get(decl)
        if isinstance(held, Expr):
            return held
        name = self.name_of(decl, frame.depth)
        if held is not None:
            return self.varying(name)
        self.invariants.setdefault(name, decl)
        return Expr.name(name)

    def _binary(self, expression: Binary, frame: Frame) -> Expr:
        op = expression.op
        if op == ",":
            return self.value(expression.right, frame)
        left, right = self.value(expression.left, frame), self.value(expression.right, frame)
        if op == "+":
            return left + right
        if op == "-":
            return left - right
        if op == "*":
            return left * right
        if op == "/":
            return Expr.atom("floordiv", left, right)
        if op == "%":
            return Expr.atom("mod", left, right)
        shift = right.constant
        if op in ("<<", ">>") and isinstance(shift, int) and 0 <= shift < 63:
            power = Expr.const(1 << shift)
            return left * power if op == "<<" else Expr.atom("floordiv", left, power)
        if op in _MIRROR:
            op, left, right = _MIRROR[op], right, left
        if op in _COMPARE:
            return Expr.atom(_COMPARE[op], left, right)
        return Expr.atom("call", left, right, label=op)

    def _unary(self, expression: Unary, frame: Frame) -> Expr:
        if expression.op == "-":
            return -self.value(expression.operand, frame)
        if expression.op == "*":
            return self._loaded(expression, frame)
        if expression.op in ("++", "--", "p++", "p--"):
            value = self.value(expression.operand, frame)
            step = ONE if expression.op == "++" else -ONE
            return value + step if expression.op in ("++", "--") else value
        return Expr.atom("call", self.value(expression.operand, frame), label=expression.op)

    def _loaded(self, expression: Expression, frame: Frame) -> Expr:
        """A value read from memory: a parameter where no loop moves its address."""
        if isinstance(expression, Member):
            path = self.path(expression, frame)
            if path is not None:
                return Expr.name(path)
        place = self.element(expression, frame)
        if place is None:
            return self.varying(show(expression))
        label = place.array + (f".{place.member}" if place.member else "")
        return Expr.atom("ref", *place.subscripts, label=label)

    def _ternary(self, expression: Ternary, frame: Frame) -> Expr:
        then, other = self.value(expression.then, frame), self.value(expression.other, frame)
        if then == other:
            return then
        test = expression.condition
        if isinstance(test, Binary) and test.op in ("<", "<=", ">", ">="):
            left, right = self.value(test.left, frame), self.value(test.right, frame)
            small = test.op in ("<", "<=")
            if (left, right) == (then, other):
                return Expr.atom("min" if small else "max", then, other)
            if (left, right) == (other, then):
                return Expr.atom("max" if small else "min", then, other)
        return Expr.atom("select", self.value(test, frame), then, other)

    def _called(self, expression: CallExpr, frame: Frame) -> Expr:
        args = expression.args
        if expression.name in _MIN and len(args) == 2:
            return Expr.atom("min", self.value(args[0], frame), self.value(args[1], frame))
        if expression.name in _MAX and len(args) == 2:
            return Expr.atom("max", self.value(args[0], frame), self.value(args[1], frame))
        returned = self._single_return(expression, frame)
        if returned is not None:
            return returned
        if expression.method and len(args) == 1:
            path = self.path(args[0], frame)
            if path is not None:
                pointer = isinstance(args[0], Name) and args[0].decl.ctype.kind == "pointer"
                dot = "->" if pointer else "."
                return Expr.atom("call", label=f"{path.lstrip('&')}{dot}{expression.name}")
        return Expr.atom("call", *(self.value(a, frame) for a in args), label=expression.name)

    def _single_return(self, call: CallExpr, frame: Frame) -> Expr | None:
        function = self.body_of(call.decl) if call.decl and frame.depth < _MAX_INLINE else None
        if function is None or not isinstance(function.body, Compound):
            return None
        items = function.body.items
        if len(items) != 1 or not isinstance(items[0], Return):
            return None
        inner = Frame(dict(self.bind(function, call.args, frame)), frame.depth + 1)
        return self.value(items[0].value, inner)

    def bind(
        self, function: Function, args: tuple[Expression, ...], frame: Frame
    ) -> dict[Decl, Value]:
        """What the parameters of a called function hold."""
        bound: dict[Decl, Value] = {}
        for parameter, argument in zip(function.parameters, args, strict=False):
            if parameter.ctype.kind in ("pointer", "array"):
                pointer = self.pointer(argument, frame)
                bound[parameter] = pointer or Pointer(parameter.name, (ZERO,), UNKNOWN)
            elif parameter.ctype.kind == "int":
                bound[parameter] = self.value(argument, frame)
            elif parameter.ctype.kind == "struct":
                path = self.path(argument, frame)
                if path is not None:
                    bound[parameter] = Pointer(path, (), parameter.ctype)
        return bound

    # -- memory ---------------------------------------------------------------------------------

    def path(self, expression: Expression | None, frame: Frame) -> str | None:
        """`s->grid.nx` for a member reached through variables only, else None."""
        if expression is None:
            return "this"
        if isinstance(expression, Name):
            held = frame.env.get(expression.decl)
            if isinstance(held, Pointer):
                if any(s != 0 for s in held.subscripts):
                    return None
                return held.array
            return self.name_of(expression.decl, frame.depth)
        if isinstance(expression, Member):
            inner = self.path(expression.base, frame)
            if inner is None:
                return None
            if expression.base is None:
                return expression.field.name
            dot = "->" if expression.arrow and not inner.startswith("&") else "."
            return f"{inner.lstrip('&')}{dot}{expression.field.name}"
        if isinstance(expression, Unary) and expression.op in ("*", "&"):
            return self.path(expression.operand, frame)
        if isinstance(expression, Cast):
            return self.path(expression.operand, frame)
        return None

    def pointer(self, expression: Expression, frame: Frame) -> Pointer | None:
        """The address that an expression of pointer or array type is worth."""
        if isinstance(expression, Name):
            return self._named_pointer(expression.decl, frame)
        if isinstance(expression, Index):
            return self._decayed(self._indexed(expression, frame))
        if isinstance(expression, Binary) and expression.op in ("+", "-"):
            return self._moved(expression, frame)
        if isinstance(expression, Unary):
            return self._unary_pointer(expression, frame)
        if isinstance(expression, Cast):
            return self._cast_pointer(expression, frame)
        if isinstance(expression, Member):
            return self._member_pointer(expression, frame)
        if isinstance(expression, Assign):
            return self.pointer(expression.right, frame)
        if isinstance(expression, Ternary):
            return self.pointer(expression.then, frame)
        if isinstance(expression, CallExpr) and expression.decl is not None:
            ctype = expression.decl.ctype
            if ctype.kind == "pointer" and ctype.element is not None:
                return self._array_pointer(f"{expression.name}()", ctype, "unknown", None, frame)
        return None

    def _named_pointer(self, decl: Decl, frame: Frame) -> Pointer | None:
        held = frame.env.get(decl)
        if isinstance(held, Pointer):
            return held
        if decl.ctype.kind not in ("pointer", "array"):
            return None
        storage = {"static": "global"}.get(decl.kind, decl.kind)
        if decl in self.private or decl.name in self.private_names:
            # An array of a thread's own; what a pointer of its own points to is not.
            storage = "private" if decl.ctype.kind == "array" else "unknown"
        return self._array_pointer(
            self.name_of(decl, frame.depth), decl.ctype, storage, decl.span, frame
        )

    def _array_pointer(
        self, name: str, ctype: CType, storage: str, span: Span | None, frame: Frame
    ) -> Pointer:
        pointee = ctype.element or UNKNOWN
        if name not in self.arrays:
            dims: list[Expr | None] = []
            inner: CType = ctype
            while inner.kind in ("array", "pointer") and inner.element is not None:
                known = inner.extent is not None
                dims.append(self.value(inner.extent, frame) if known else None)
                inner = inner.element
            self.arrays[name] = Array(name, inner.bytes, tuple(dims), storage, span)
        return Pointer(name, (ZERO,), pointee)

    def _indexed(self, expression: Index, frame: Frame) -> Pointer | None:
        base = self.pointer(expression.base, frame)
        if base is None:
            ctype = expression.base.decl.ctype if isinstance(expression.base, Name) else None
            if ctype is None or ctype.kind not in ("struct", "unknown"):
                return None
            # An overloaded operator[] or a dependent type: an array of what is not known.
            assert isinstance(expression.base, Name)
            name = self.name_of(expression.base.decl, frame.depth)
            base = self._array_pointer(
                name, CType("pointer", 64, element=UNKNOWN), "unknown", None, frame
            )
        return base.plus(self.value(expression.index, frame))

    @staticmethod
    def _decayed(place: Pointer | None) -> Pointer | None:
        """An element that is itself an array or a pointer, as the address of its first element."""
        if place is None or place.pointee.element is None:
            return None
        return place._replace(subscripts=(*place.subscripts, ZERO), pointee=place.pointee.element)

    def _moved(self, expression: Binary, frame: Frame) -> Pointer | None:
        base = self.pointer(expression.left, frame)
        if base is not None:
            distance = self.value(expression.right, frame)
            return base.plus(distance if expression.op == "+" else -distance)
        base = self.pointer(expression.right, frame)
        return base.plus(self.value(expression.left, frame)) if base is not None else None

    def _unary_pointer(self, expression: Unary, frame: Frame) -> Pointer | None:
        if expression.op == "*":
            return self._decayed(self.pointer(expression.operand, frame))
        if expression.op == "&":
            operand = expression.operand
            place = self.element(operand, frame)
            if place is not None:
                return place
            path = self.path(operand, frame)
            if path is not None:
                ctype = operand.decl.ctype if isinstance(operand, Name) else UNKNOWN
                return Pointer(path if ctype.kind != "struct" else f"&{path}", (ZERO,), ctype)
            return None
        if expression.op in ("p++", "p--", "++", "--"):
            base = self.pointer(expression.operand, frame)
            if base is None or expression.op.startswith("p"):
                return base
            return base.plus(ONE if expression.op == "++" else -ONE)
        return None

    def _cast_pointer(self, expression: Cast, frame: Frame) -> Pointer | None:
        base = self.pointer(expression.operand, frame)
        ctype = expression.ctype
        if base is None or ctype.element is None or ctype.kind not in ("pointer", "array"):
            return base
        if ctype.element.kind == "array":
            # (double (*)[n]) p: the memory gets the shape of the new type.
            return self._array_pointer(f"{base.array}", ctype, "unknown", None, frame)._replace(
                array=base.array
            )
        return base._replace(pointee=ctype.element)

    def _member_pointer(self, expression: Member, frame: Frame) -> Pointer | None:
        ctype = expression.field.ctype
        if ctype.kind not in ("pointer", "array"):
            return None
        path = self.path(expression, frame)
        if path is not None:
            return self._array_pointer(path, ctype, "unknown", expression.field.span, frame)
        place = self.element(expression.base, frame) if expression.base is not None else None
        if place is None:
            return None
        name = f"{place.array}[].{expression.field.name}"
        inner = self._array_pointer(name, ctype, "unknown", expression.field.span, frame)
        shape = self.arrays[name]
        outer = self.arrays.get(place.array)
        outer_dims = outer.dims if outer is not None else (None,) * len(place.subscripts)
        if len(shape.dims) < len(outer_dims) + len(place.subscripts):
            self.arrays[name] = Array(
                name, shape.element_bytes, (*outer_dims, *shape.dims), shape.storage, shape.declared
            )
        return inner._replace(subscripts=(*place.subscripts, ZERO))

    def element(self, expression: Expression | None, frame: Frame) -> Pointer | None:
        """The place of an lvalue in memory, `pointee` being its type; None for plain scalars."""
        if isinstance(expression, Index):
            return self._indexed(expression, frame)
        if isinstance(expression, Unary) and expression.op == "*":
            return self.pointer(expression.operand, frame)
        if isinstance(expression, Member):
            if expression.base is None:
                return None
            base = expression.base
            place = self.element(base, frame)
            if place is None and expression.arrow:
                place = self.pointer(base, frame)
                if place is not None and all(s == 0 for s in place.subscripts):
                    return None  # p->x of a fixed p is a scalar
            if place is None or not place.subscripts:
                return None
            member = (
                f"{place.member}.{expression.field.name}" if place.member else expression.field.name
            )
            return place._replace(pointee=expression.field.ctype, member=member)
        if isinstance(expression, Cast):
            return self.element(expression.operand, frame)
        return None
