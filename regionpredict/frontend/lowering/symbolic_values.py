"""The symbolic values of a region's integers and pointers during lowering.

A `Context` belongs to one region. It gives each variable a unique name, stores the known value of
each integer and pointer, and converts C expressions to `Expr`s and `Pointer`s.
"""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.array_views import as_other_type
from regionpredict.frontend.lowering.constant_numbers import constant_number
from regionpredict.frontend.lowering.frame import Frame, Pointer, Value, decayed, divisible
from regionpredict.frontend.lowering.member_arrays import extents_with_stride
from regionpredict.frontend.lowering.pointer_expressions import (
    in_array,
    is_written_pointer,
    nameless,
    place_label,
)
from regionpredict.frontend.lowering.private_members import SetMembers
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    INT,
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
    every_expression,
    is_null,
    show,
    without_casts,
)
from regionpredict.frontend.syntax.binary_operators import (
    called_by_name,
    chosen,
    computed,
    is_named_operation,
)
from regionpredict.frontend.syntax.integer_types import (
    converted,
    promoted,
    type_of,
    usual,
)
from regionpredict.ir import Array, Expr, Span
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.library import allocated

_MAX_INLINE = 6
_MAX_NESTED = 20  # calls that are arguments of calls: each level would be read for each around it
_MAX_SIZE = 80  # parts: longer expressions cost time without use


class Context:
    """Names, values and arrays of one region."""

    def __init__(self, unit: LinkedUnit) -> None:
        self.body_of = unit.body_of
        self.objects = unit.objects  # of classes with a single one, their names
        self.lengths = unit.lengths  # of containers
        self._totals = unit.totals
        self.arrays: dict[str, Array] = {}
        self.private: set[Decl] = set()  # declared inside the region
        self.private_names: set[str] = set()  # listed in private clauses
        self.invariants: dict[str, Decl] = {}
        self.members: dict[str, Decl] = {}  # member arrays of variables
        self.members_set = SetMembers()
        self.member_homes: dict[str, str] = {}  # by path, the variable that contains them
        # Members and array elements that keep their own name, by this name.
        self.stored_uses: dict[str, Member | Index] = {}
        self.exposed: set[Decl] = set()  # integers whose address was taken
        self._texts: dict[str, str] = {}  # string literals by their display
        self.open_loops: list[str] = []
        self.frames: list[Frame] = []  # frames of the callers of the current function
        self.followed: set[CallExpr] = set()  # calls that were inlined
        self.exact = False  # unsigned numbers wrap for any values of names
        self.returned: dict[Expression, Value] = {}  # return values of inlined calls
        self.homes: dict[str, Function] = {}  # the function of each name, if requested
        self._nested = 0  # calls around the current expression
        self._names: dict[tuple[Decl | str, int], str] = {}
        self._taken: dict[str, tuple[Decl | str, int]] = {}
        self._declared: dict[str, tuple[Decl, int]] = {}

    # -- names ----------------------------------------------------------------------------------

    def name_of(self, decl: Decl, instance: int = 0) -> str:
        """Returns the name of a variable in this region. If another variable has the same name, a
        prime is added.
        """
        local = decl.kind in ("local", "parameter")
        # An external variable is the same in all units.
        key: tuple[Decl | str, int] = (decl.symbol or decl, instance if local else 0)
        if key not in self._names:
            self._declared[self._unique(decl.name or "?", key)] = (decl, key[1])
        return self._names[key]

    def name_of_undeclared(self, text: str) -> str:
        """Returns the name of a variable without a visible declaration. It differs from all loop
        variables.
        """
        key = (text, 0)
        return self._names[key] if key in self._names else self._unique(text, key)

    def _unique(self, name: str, key: tuple[Decl | str, int]) -> str:
        while self._taken.setdefault(name, key) != key:
            name += "'"
        self._names[key] = name
        return name

    def named(self) -> Mapping[str, tuple[Decl, int]]:
        """Returns the variable of each name used so far, and the call depth of its declaration."""
        return self._declared

    def frame_of(self, decl: Decl, depth: int, frame: Frame) -> Frame | None:
        """Returns the frame of a variable that is declared at this call depth. It is the current
        frame or a caller's.
        """
        around = (frame, *reversed(self.frames))
        own = next((outer for outer in around if decl in outer.env), None)
        return own or next((outer for outer in around if outer.depth == depth), None)

    def varying(self, name: str) -> Expr:
        """Returns a value that changes with the enclosing loops in an unknown way."""
        return Expr.atom("varying", label=name, over=self.open_loops)

    def moves(self, expression: Expression | None, frame: Frame) -> bool:
        """Returns whether the value contains a variable that changes with the enclosing loops, such
        as `u` in `graph.neighbors(u)`.
        """
        for one in every_expression(expression) if expression is not None else ():
            held = frame.env.get(one.decl) if isinstance(one, Name) else None
            values = held.subscripts if isinstance(held, Pointer) else [held] if held else []
            if any(not value.names.isdisjoint(self.open_loops) for value in values):
                return True
        return False

    def allocate(self, decl: Decl, value: Expression, frame: Frame) -> Pointer | None:
        """Memory that a call allocates, as an array that belongs to the receiving pointer. Returns
        None for any other call.
        """
        value = without_casts(value)
        positions = allocated(value.name) if isinstance(value, CallExpr) else None
        if positions is None or not isinstance(value, CallExpr) or decl.ctype.element is None:
            return None
        amount = ONE
        for position in positions:
            if position >= len(value.args):
                return None
            amount = amount * self.value(value.args[position], frame)
        name = self.name_of(decl, frame.depth)
        pointee = decl.ctype.element
        size = pointee.bytes
        length = amount.over(size) if divisible(amount, size) else None
        storage = "private" if decl in self.private else "unknown"
        self.arrays[name] = Array(name, size, (length,), storage, decl.span)
        return Pointer(name, (ZERO,), pointee)

    # -- integers -------------------------------------------------------------------------------

    def exactly(self, expression: Expression, frame: Frame) -> Expr:
        """Returns the value of an expression in the arithmetic of C's types, for numbers of any
        size.
        """
        before, self.exact = self.exact, True
        value = self.value(expression, frame)
        self.exact = before
        return value

    def converted(self, value: Expr, ctype: CType, source: CType = UNKNOWN) -> Expr:
        """Returns a value of type `source` after conversion to another type."""
        return converted(value, ctype, source if self.exact else None)

    def value(self, expression: Expression | None, frame: Frame) -> Expr:
        """Returns the integer value of an expression. Returns None if it is unknown."""
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
            return self._cast(expression, frame)
        if isinstance(expression, Unary):
            return self._unary(expression, frame)
        if isinstance(expression, (Index, Member)):
            return self._value_in_memory(expression, frame)
        if isinstance(expression, Ternary):
            return self._ternary(expression, frame)
        if isinstance(expression, CallExpr) and self._nested < _MAX_NESTED:
            self._nested += 1
            called = self._called(expression, frame)
            self._nested -= 1
            return called
        if isinstance(expression, Assign):
            return self.value(expression.right, frame)
        if isinstance(expression, Opaque) and expression.text.isidentifier():
            return Expr.name(self.name_of_undeclared(expression.text))
        return self.varying(nameless(expression))

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
        if op == "-" and (elements := self._distance(expression, frame)) is not None:
            return elements
        left, right = self.value(expression.left, frame), self.value(expression.right, frame)
        if not self.exact:
            return computed(expression, left, right)
        ctype = type_of(expression.left)
        if op not in ("<<", ">>", "&&", "||"):
            ctype = usual(ctype, type_of(expression.right))
            left, right = self.converted(left, ctype), self.converted(right, ctype)
        result = computed(expression, left, right)
        return result if type_of(expression) == INT else self.converted(result, promoted(ctype))

    def _distance(self, expression: Binary, frame: Frame) -> Expr | None:
        """Returns the number of elements between two pointers into the same array. Returns None for
        any other difference.
        """
        if type_of(expression.left).kind not in ("pointer", "array"):
            return None
        end, begin = (self.pointer(side, frame) for side in (expression.left, expression.right))
        if end is None or begin is None or not end.subscripts or end[2:] != begin[2:]:
            return None
        if end.array != begin.array or end.subscripts[:-1] != begin.subscripts[:-1]:
            return None
        return end.subscripts[-1] - begin.subscripts[-1]

    def _cast(self, expression: Cast, frame: Frame) -> Expr:
        if expression.ctype.kind == "int" and type_of(expression.operand).kind == "float":
            number = constant_number(expression.operand)
            return Expr.const(int(number)) if number is not None else self.varying("?")
        return self.converted(
            self.value(expression.operand, frame), expression.ctype, type_of(expression.operand)
        )

    def _unary(self, expression: Unary, frame: Frame) -> Expr:
        if expression.op == "-":
            negated = -self.value(expression.operand, frame)
            return self.converted(negated, type_of(expression)) if self.exact else negated
        if expression.op in ("!", "~"):
            kind = "not" if expression.op == "!" else "bitnot"
            return Expr.atom(kind, self.value(expression.operand, frame))
        if expression.op == "*":
            return self._value_in_memory(expression, frame)
        if expression.op in INCREMENT_OPERATORS:
            value = self.value(expression.operand, frame)
            step = ONE if expression.op == "++" else -ONE
            return value + step if expression.op in ("++", "--") else value
        return Expr.atom("call", self.value(expression.operand, frame), label=expression.op)

    def _value_in_memory(self, expression: Expression, frame: Frame) -> Expr:
        """Returns a value read from memory. It is a parameter if no loop changes its address."""
        copied = None
        if isinstance(expression, Member):
            path = self.path(expression, frame)
            copied = self._original_of_copy(path, expression, frame)
            if path is not None and copied is None:
                self.stored_uses.setdefault(path, expression)
                return Expr.name(path)
        place = copied if copied is not None else self.element(expression, frame)
        if place is None:
            return self.varying(show(expression))
        if place.array in self._texts:
            text, at = self._texts[place.array], place.subscripts[-1].constant
            if isinstance(at, int) and 0 <= at < len(text):
                return Expr.const(ord(text[at]))
        if place.array not in self.arrays and not place.member and place.subscripts == (ZERO,):
            behind = self._declared.get(place.array)
            holder = self.frame_of(*behind, frame) if behind is not None else None
            known = holder.env.get(behind[0]) if holder is not None and behind is not None else None
            # A variable behind a reference.
            return known if isinstance(known, Expr) else Expr.name(place.array.lstrip("&"))
        label = place_label(place, expression, lambda element: self.element(element, frame))
        total = self._running_total(expression, place, label)
        if total is not None:
            return total
        loaded = Expr.atom("ref", *place.subscripts, label=label)
        if isinstance(expression, Index) and isinstance(expression.index, IntLit):
            self.stored_uses.setdefault(str(loaded), expression)
        return loaded

    def _running_total(self, expression: Expression, place: Pointer, label: str) -> Expr | None:
        """`off[u + 1]` as the sum of `off[u]` and its increment. Returns None for any other
        element.
        """
        base = expression.base if isinstance(expression, Index) else None
        total = self._totals.get(base.decl) if isinstance(base, Name) else None
        if total is None or len(place.subscripts) != 1:
            return None
        at = place.subscripts[0] - 1
        if not at.names or at.terms.get((), 0):
            return None
        increment = self.value(total.increment, Frame({total.counter: at + total.ahead}))
        if increment.names <= at.names and increment.is_plain:
            return Expr.atom("ref", at, label=label) + increment
        return None

    def _original_of_copy(
        self, path: str | None, expression: Member, frame: Frame
    ) -> Pointer | None:
        """Returns the origin of a member of a copied struct, as in `Window w = windows[k];`.
        Returns None for any other member.
        """
        _, place = self.members_set.held(path, expression.field, frame)
        return place.of_member(expression.field) if place and place.subscripts else None

    def _ternary(self, expression: Ternary, frame: Frame) -> Expr:
        then, other = self.value(expression.then, frame), self.value(expression.other, frame)
        return then if then == other else chosen(
            self.value(expression.condition, frame), then, other
        )  # fmt: skip

    def _called(self, expression: CallExpr, frame: Frame) -> Expr:
        held = self.returned.get(expression)
        if isinstance(held, Expr):
            return held
        args = expression.args
        if is_named_operation(expression.name):
            operands = [self.value(argument, frame) for argument in args]
            made = called_by_name(expression.name, operands)
            if made is not None:
                return made
        returned = self._single_return(expression, frame)
        if returned is not None:
            return returned
        if expression.free and args and isinstance(args[0], Name) and args[0].decl in self.lengths:
            return self.value(self.lengths[args[0].decl].value, frame)
        if expression.method and len(args) == 1:
            path = self.path(args[0], frame)
            if path == "this":
                return Expr.atom("call", label=expression.name)
            if path is not None:
                dot = "->" if is_written_pointer(args[0]) and not path.startswith("&") else "."
                return Expr.atom("call", label=f"{path.lstrip('&')}{dot}{expression.name}")
        return Expr.atom("call", *(self.value(a, frame) for a in args), label=expression.name)

    def _single_return(self, call: CallExpr, frame: Frame) -> Expr | None:
        function = self.body_of(call.decl) if call.decl and frame.calls < _MAX_INLINE else None
        if function is None or not isinstance(function.body, Compound):
            return None
        items = function.body.items
        if len(items) != 1 or not isinstance(items[0], Return):
            return None
        return self.value(items[0].value, self.values_at_start(function, call.args, frame))

    def values_at_start(
        self, function: Function, args: tuple[Expression, ...], frame: Frame
    ) -> Frame:
        """Returns the values of a called function's variables at its start."""
        bound = self.bind(function, args, frame)
        if function.closure:
            return Frame({**frame.env, **bound}, frame.depth, frame.calls + 1)
        return Frame(bound, frame.depth + 1, frame.calls + 1)

    def bind(
        self, function: Function, args: tuple[Expression, ...], frame: Frame
    ) -> dict[Decl, Value]:
        """Sets the parameters of a called function to their values."""
        bound: dict[Decl, Value] = {}
        for parameter, argument in zip(function.parameters, args, strict=False):
            if parameter.ctype.kind in ("pointer", "array"):
                pointer = self.pointer(argument, frame)
                if pointer is not None:  # otherwise, memory that is assumed to be separate
                    bound[parameter] = pointer
            elif parameter.ctype.kind == "int":
                bound[parameter] = self.value(argument, frame)
            elif parameter.ctype.kind == "struct":
                path = self.path(argument, frame)
                if path is not None:
                    bound[parameter] = Pointer(path, (), parameter.ctype)
        return bound

    # -- memory ---------------------------------------------------------------------------------

    def path(self, expression: Expression | None, frame: Frame) -> str | None:
        """Returns the path `s->grid.nx` of a member, if only variables lead to it. Returns None for
        any other expression.
        """
        if expression is None:
            return "this"
        if isinstance(expression, Name):
            held = frame.env.get(expression.decl)
            if isinstance(held, Pointer):
                if any(s != 0 for s in held.subscripts):
                    return None
                return held.array
            name = self._object(expression.decl, frame)
            return name if name is not None else self.name_of(expression.decl, frame.depth)
        if isinstance(expression, Member):
            inner = self.path(expression.base, frame)
            if inner is None:
                return None
            if inner == "this":
                return expression.field.name
            dot = "->" if expression.arrow and not inner.startswith("&") else "."
            return f"{inner.lstrip('&')}{dot}{expression.field.name}"
        if isinstance(expression, Unary) and expression.op in ("*", "&"):
            return self.path(expression.operand, frame)
        if isinstance(expression, Cast):
            return self.path(expression.operand, frame)
        return None

    def _object(self, decl: Decl, frame: Frame) -> str | None:
        """Returns the target of a reference without a known target, as a separate object:
        `&domain`, or `this`.

        None for any other expression, and for the only object of a class.
        """
        sole = self.objects.get(decl.ctype.class_name) if self.objects else None
        if sole is not None:
            return f"&{sole}"
        if not decl.reference:
            return None
        return "this" if decl.name == "this" else f"&{self.name_of(decl, frame.depth)}"

    def pointer(self, expression: Expression, frame: Frame) -> Pointer | None:
        """Returns the address that an expression of pointer or array type evaluates to."""
        if isinstance(expression, Name):
            return self._named_pointer(expression.decl, frame)
        if isinstance(expression, Index):
            return decayed(self._indexed(expression, frame))
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
            return self._chosen_pointer(expression, frame)
        if isinstance(expression, Opaque) and expression.string is not None:
            name = nameless(expression)
            self._texts[name] = expression.string
            return Pointer(name, (ZERO,), CType("int", 8))
        returned = self.returned.get(expression) if isinstance(expression, CallExpr) else None
        if isinstance(returned, Pointer):
            return returned
        if isinstance(expression, CallExpr) and expression.decl is not None:
            ctype = expression.decl.ctype
            if ctype.kind == "pointer" and ctype.element is not None:
                return self._array_pointer(f"{expression.name}()", ctype, "unknown", None, frame)
        return None

    def _chosen_pointer(self, expression: Ternary, frame: Frame) -> Pointer | None:
        """Returns the common address of both branches. If they are in two arrays, it is an unknown
        place in a separate array.
        """
        then, other = self.pointer(expression.then, frame), self.pointer(expression.other, frame)
        if is_null(expression.then):
            return other
        if is_null(expression.other):
            return then
        if then is None or other is None:
            return None
        if then.array == other.array:
            return then
        ctype, name = CType("pointer", 64, element=then.pointee), show(expression)
        chosen = self._array_pointer(name, ctype, "unknown", None, frame)
        return chosen.plus(self.varying(name))

    def _named_pointer(self, decl: Decl, frame: Frame) -> Pointer | None:
        held = frame.env.get(decl)
        if isinstance(held, Pointer):
            return held
        if decl.ctype.kind not in ("pointer", "array"):
            return None
        name = self._object(decl, frame)
        if name is not None:
            pointee = decl.ctype.element or UNKNOWN
            return Pointer(name if pointee.kind == "struct" else name[1:], (ZERO,), pointee)
        storage = {"static": "global"}.get(decl.kind, decl.kind)
        if decl in self.private or decl.name in self.private_names:
            # A private array or container. The target of another private pointer is not private.
            init = decl.init if decl.ctype.name else None
            made_empty = isinstance(init, Opaque) and not init.text and not init.children
            storage = "private" if decl.ctype.kind == "array" or made_empty else "unknown"
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
            # An overloaded operator[] or a dependent type: an array with an unknown element type.
            assert isinstance(expression.base, Name)
            name = self.name_of(expression.base.decl, frame.depth)
            base = self._array_pointer(
                name, CType("pointer", 64, element=UNKNOWN), "unknown", None, frame
            )
        return base.plus(self.value(expression.index, frame))

    def _moved(self, expression: Binary, frame: Frame) -> Pointer | None:
        base = self.pointer(expression.left, frame)
        if base is not None:
            distance = self.value(expression.right, frame)
            return base.plus(distance if expression.op == "+" else -distance)
        base = self.pointer(expression.right, frame)
        return base.plus(self.value(expression.left, frame)) if base is not None else None

    def _unary_pointer(self, expression: Unary, frame: Frame) -> Pointer | None:
        if expression.op == "*":
            return decayed(self.pointer(expression.operand, frame))
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
        if expression.op in INCREMENT_OPERATORS:
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
        return as_other_type(base, ctype, self.arrays, self.varying)

    def _member_pointer(self, expression: Member, frame: Frame) -> Pointer | None:
        ctype = expression.field.ctype
        if ctype.kind not in ("pointer", "array"):
            return None
        path = self.path(expression, frame)
        set_here = place = None
        if ctype.kind == "pointer":  # an array in a copy belongs to the copy
            set_here, place = self.members_set.held(path, expression.field, frame)
        if set_here is not None:
            return set_here
        base = expression.base
        if path is not None and place is None:
            self.members[path] = expression.field
            return self._array_pointer(path, ctype, "unknown", expression.field.span, frame)
        if place is None and base is not None:
            place = self.element(base, frame)
        if place is None and base is not None and expression.arrow:
            place = self.pointer(base, frame)  # p->x of p = &cells[i]
        if place is None:
            return None
        name = f"{place.array}[].{expression.field.name}"
        outer = self.arrays.get(place.array)
        # An array is inside the struct. The target of a pointer may be anywhere.
        inside = outer is not None and ctype.kind == "array"
        storage = outer.storage if outer is not None and inside else "unknown"
        inner = self._array_pointer(name, ctype, storage, expression.field.span, frame)
        shape = self.arrays[name]
        outer_dims = outer.dims if outer is not None else (None,) * len(place.subscripts)
        if len(shape.dims) < len(outer_dims) + len(place.subscripts):
            own = extents_with_stride(shape, place.pointee.bytes) if inside else shape.dims
            self.arrays[name] = Array(
                name, shape.element_bytes, (*outer_dims, *own), shape.storage, shape.declared,
                inside=place.array if inside else "",
            )  # fmt: skip
        offset = place.offset + expression.field.offset if inside else 0
        return inner._replace(subscripts=(*place.subscripts, ZERO), offset=offset)

    def element(self, expression: Expression | None, frame: Frame) -> Pointer | None:
        """Returns the place of an lvalue in memory. Its type is in `pointee`. Returns None for a
        plain scalar.
        """
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
                if place is not None and not in_array(base, place, self.arrays.get(place.array)):
                    return None  # p->x of a fixed p is a scalar
            if place is None or not place.subscripts:
                return None
            return place.of_member(expression.field)
        if isinstance(expression, Cast) and expression.constructor is None:
            return self.element(expression.operand, frame)
        return None
