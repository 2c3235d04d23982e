"""Evaluates C expressions of a region symbolically, to integers (`Expr`) and addresses (`Pointer`).

A `Context` belongs to one region. The context also gives each variable a unique name.
"""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.array_views import as_array_of_type
from regionpredict.frontend.lowering.constant_numbers import constant_number
from regionpredict.frontend.lowering.frame import (
    Frame,
    Pointer,
    Value,
    address_of_first_element,
    is_multiple,
)
from regionpredict.frontend.lowering.member_arrays import extents_with_stride
from regionpredict.frontend.lowering.pointer_expressions import (
    is_in_array_element,
    is_written_pointer,
    label_without_name,
    memory_label,
)
from regionpredict.frontend.lowering.private_members import AssignedMembers
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
_MAX_NESTED = 20  # maximum nesting of calls as arguments, which takes time at each level
_MAX_SIZE = 80  # maximum number of names, numbers and operators of a value


class Context:
    """The variable names, symbolic values and arrays of one region."""

    def __init__(self, unit: LinkedUnit) -> None:
        self.body_of = unit.body_of
        self.objects = unit.objects  # by class with only one object, the object's name
        self.lengths = unit.lengths  # lengths of containers
        self._totals = unit.totals
        self.arrays: dict[str, Array] = {}
        self.private: set[Decl] = set()  # declared inside the region
        self.private_names: set[str] = set()  # listed in private clauses
        self.invariants: dict[str, Decl] = {}
        self.members: dict[str, Decl] = {}  # member arrays of variables
        self.assigned_members = AssignedMembers()
        self.member_homes: dict[str, str] = {}  # by member path, the variable that contains it
        # A use of each member and array element that is represented by its name, by this name.
        self.stored_uses: dict[str, Member | Index] = {}
        self.exposed: set[Decl] = set()  # integers whose address was taken
        self._texts: dict[str, str] = {}  # string literals by their array name
        self.open_loops: list[str] = []
        self.frames: list[Frame] = []  # frames of the callers of the current function
        self.followed: set[CallExpr] = set()  # calls that were inlined
        self.exact = False  # whether unsigned arithmetic wraps for any values of names
        self.returned: dict[Expression, Value] = {}  # return values of inlined calls
        self.homes: dict[
            str, Function
        ] = {}  # by name in definitions, the function that declares it
        self._nested = 0  # number of calls around the current expression
        self._names: dict[tuple[Decl | str, int], str] = {}
        self._taken: dict[str, tuple[Decl | str, int]] = {}
        self._declared: dict[str, tuple[Decl, int]] = {}

    # -- names ----------------------------------------------------------------------------------

    def name_of(self, decl: Decl, instance: int = 0) -> str:
        """Returns the unique name of a variable in this region. A prime is added if another
        variable has the same name.
        """
        local = decl.kind in ("local", "parameter")
        # An external variable is the same in all units.
        key: tuple[Decl | str, int] = (decl.symbol or decl, instance if local else 0)
        if key not in self._names:
            self._declared[self._unique_name(decl.name or "?", key)] = (decl, key[1])
        return self._names[key]

    def undeclared_name(self, text: str) -> str:
        """Returns the unique name of a variable without a visible declaration."""
        key = (text, 0)
        return self._names[key] if key in self._names else self._unique_name(text, key)

    def _unique_name(self, name: str, key: tuple[Decl | str, int]) -> str:
        while self._taken.setdefault(name, key) != key:
            name += "'"
        self._names[key] = name
        return name

    def declarations(self) -> Mapping[str, tuple[Decl, int]]:
        """Returns the variable of each name in use, with the call depth of its declaration."""
        return self._declared

    def frame_of(self, decl: Decl, depth: int, frame: Frame) -> Frame | None:
        """Returns the frame that contains a variable of this call depth: the current frame or a
        caller's.
        """
        around = (frame, *reversed(self.frames))
        own = next((outer for outer in around if decl in outer.env), None)
        return own or next((outer for outer in around if outer.depth == depth), None)

    def varying(self, name: str) -> Expr:
        """Returns an unknown value that may change in each iteration of the enclosing loops."""
        return Expr.atom("varying", label=name, over=self.open_loops)

    def changes_in_loops(self, expression: Expression | None, frame: Frame) -> bool:
        """Returns whether the value depends on variables of the enclosing loops, such as `u` in
        `graph.neighbors(u)`.
        """
        for one in every_expression(expression) if expression is not None else ():
            held = frame.env.get(one.decl) if isinstance(one, Name) else None
            values = held.subscripts if isinstance(held, Pointer) else [held] if held else []
            if any(not value.names.isdisjoint(self.open_loops) for value in values):
                return True
        return False

    def allocated_array(self, decl: Decl, value: Expression, frame: Frame) -> Pointer | None:
        """Returns the array that a call such as `malloc` allocates for the pointer `decl`. Returns
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
        length = amount.over(size) if is_multiple(amount, size) else None
        storage = "private" if decl in self.private else "unknown"
        self.arrays[name] = Array(name, size, (length,), storage, decl.span)
        return Pointer(name, (ZERO,), pointee)

    # -- integers -------------------------------------------------------------------------------

    def exact_value(self, expression: Expression, frame: Frame) -> Expr:
        """Returns the value of an expression with the wraparound of C's integer types."""
        before, self.exact = self.exact, True
        value = self.value(expression, frame)
        self.exact = before
        return value

    def convert_value(self, value: Expr, ctype: CType, source: CType = UNKNOWN) -> Expr:
        """Returns a value of type `source` after conversion to the type `ctype`."""
        return converted(value, ctype, source if self.exact else None)

    def value(self, expression: Expression | None, frame: Frame) -> Expr:
        """Returns the integer value of an expression. An unknown value is a `varying` term."""
        result = self._compute_value(expression, frame)
        if result.size <= _MAX_SIZE:
            return result
        over = result.names & set(self.open_loops)
        return Expr.atom("varying", label="...", over=over)

    def _compute_value(self, expression: Expression | None, frame: Frame) -> Expr:
        if isinstance(expression, IntLit):
            return Expr.const(expression.value)
        if isinstance(expression, Name):
            return self._variable_value(expression.decl, frame)
        if isinstance(expression, Binary):
            return self._binary_value(expression, frame)
        if isinstance(expression, Cast):
            return self._cast_value(expression, frame)
        if isinstance(expression, Unary):
            return self._unary_value(expression, frame)
        if isinstance(expression, (Index, Member)):
            return self._value_in_memory(expression, frame)
        if isinstance(expression, Ternary):
            return self._ternary_value(expression, frame)
        if isinstance(expression, CallExpr) and self._nested < _MAX_NESTED:
            self._nested += 1
            called = self._call_value(expression, frame)
            self._nested -= 1
            return called
        if isinstance(expression, Assign):
            return self.value(expression.right, frame)
        if isinstance(expression, Opaque) and expression.text.isidentifier():
            return Expr.name(self.undeclared_name(expression.text))
        return self.varying(label_without_name(expression))

    def _variable_value(self, decl: Decl, frame: Frame) -> Expr:
        held = frame.env.get(decl)
        if isinstance(held, Expr):
            return held
        name = self.name_of(decl, frame.depth)
        if held is not None:
            return self.varying(name)
        self.invariants.setdefault(name, decl)
        return Expr.name(name)

    def _binary_value(self, expression: Binary, frame: Frame) -> Expr:
        op = expression.op
        if op == ",":
            return self.value(expression.right, frame)
        if op == "-" and (elements := self._pointer_distance(expression, frame)) is not None:
            return elements
        left, right = self.value(expression.left, frame), self.value(expression.right, frame)
        if not self.exact:
            return computed(expression, left, right)
        ctype = type_of(expression.left)
        if op not in ("<<", ">>", "&&", "||"):
            ctype = usual(ctype, type_of(expression.right))
            left, right = self.convert_value(left, ctype), self.convert_value(right, ctype)
        result = computed(expression, left, right)
        return result if type_of(expression) == INT else self.convert_value(result, promoted(ctype))

    def _pointer_distance(self, expression: Binary, frame: Frame) -> Expr | None:
        """Returns the number of elements between two pointers into the same array. Returns None for
        any other difference.
        """
        if type_of(expression.left).kind not in ("pointer", "array"):
            return None
        end, begin = (self.address_in(side, frame) for side in (expression.left, expression.right))
        if end is None or begin is None or not end.subscripts or end[2:] != begin[2:]:
            return None
        if end.array != begin.array or end.subscripts[:-1] != begin.subscripts[:-1]:
            return None
        return end.subscripts[-1] - begin.subscripts[-1]

    def _cast_value(self, expression: Cast, frame: Frame) -> Expr:
        if expression.ctype.kind == "int" and type_of(expression.operand).kind == "float":
            number = constant_number(expression.operand)
            return Expr.const(int(number)) if number is not None else self.varying("?")
        return self.convert_value(
            self.value(expression.operand, frame), expression.ctype, type_of(expression.operand)
        )

    def _unary_value(self, expression: Unary, frame: Frame) -> Expr:
        if expression.op == "-":
            negated = -self.value(expression.operand, frame)
            return self.convert_value(negated, type_of(expression)) if self.exact else negated
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
        """Returns the value of a member or array element, represented by its name and subscripts
        unless it is known.
        """
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
            target = self._declared.get(place.array)
            holder = self.frame_of(*target, frame) if target is not None else None
            known = holder.env.get(target[0]) if holder is not None and target is not None else None
            # A reference: the value is that of the variable to which it refers.
            return known if isinstance(known, Expr) else Expr.name(place.array.lstrip("&"))
        label = memory_label(place, expression, lambda element: self.element(element, frame))
        total = self._running_total(expression, place, label)
        if total is not None:
            return total
        loaded = Expr.atom("ref", *place.subscripts, label=label)
        if isinstance(expression, Index) and isinstance(expression.index, IntLit):
            self.stored_uses.setdefault(str(loaded), expression)
        return loaded

    def _running_total(self, expression: Expression, place: Pointer, label: str) -> Expr | None:
        """Returns `off[u + 1]` as `off[u]` plus an increment, if `off` is a prefix sum. Returns
        None for any other element.
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
        """Returns the address of the original member in `windows[k]`, if the struct was copied by
        `Window w = windows[k];`. Returns None for any other member.
        """
        _, place = self.assigned_members.target_and_origin(path, expression.field, frame)
        return place.of_member(expression.field) if place and place.subscripts else None

    def _ternary_value(self, expression: Ternary, frame: Frame) -> Expr:
        then, other = self.value(expression.then, frame), self.value(expression.other, frame)
        return then if then == other else chosen(
            self.value(expression.condition, frame), then, other
        )  # fmt: skip

    def _call_value(self, expression: CallExpr, frame: Frame) -> Expr:
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
        """Returns the frame of a called function at its start, with the values of parameters."""
        bound = self.bind_arguments(function, args, frame)
        if function.closure:
            return Frame({**frame.env, **bound}, frame.depth, frame.calls + 1)
        return Frame(bound, frame.depth + 1, frame.calls + 1)

    def bind_arguments(
        self, function: Function, args: tuple[Expression, ...], frame: Frame
    ) -> dict[Decl, Value]:
        """Returns the values of the arguments by parameter of the called function."""
        bound: dict[Decl, Value] = {}
        for parameter, argument in zip(function.parameters, args, strict=False):
            if parameter.ctype.kind in ("pointer", "array"):
                pointer = self.address_in(argument, frame)
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
        """Returns the access path of a member, such as `s->grid.nx`, if it contains no subscripts.
        Returns None for any other expression.
        """
        if expression is None:
            return "this"
        if isinstance(expression, Name):
            held = frame.env.get(expression.decl)
            if isinstance(held, Pointer):
                if any(s != 0 for s in held.subscripts):
                    return None
                return held.array
            name = self._reference_target(expression.decl, frame)
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

    def _reference_target(self, decl: Decl, frame: Frame) -> str | None:
        """Returns the name of the object to which a variable refers: `&domain`, or `this`.

        The object is the only one of the variable's class, or a separate object per reference.
        Returns None for other variables.
        """
        sole = self.objects.get(decl.ctype.class_name) if self.objects else None
        if sole is not None:
            return f"&{sole}"
        if not decl.reference:
            return None
        return "this" if decl.name == "this" else f"&{self.name_of(decl, frame.depth)}"

    def address_in(self, expression: Expression, frame: Frame) -> Pointer | None:
        """Returns the address that an expression of pointer or array type evaluates to. Returns
        None if it is unknown.
        """
        if isinstance(expression, Name):
            return self._variable_pointer(expression.decl, frame)
        if isinstance(expression, Index):
            return address_of_first_element(self._element_pointer(expression, frame))
        if isinstance(expression, Binary) and expression.op in ("+", "-"):
            return self._pointer_sum(expression, frame)
        if isinstance(expression, Unary):
            return self._unary_pointer(expression, frame)
        if isinstance(expression, Cast):
            return self._cast_pointer(expression, frame)
        if isinstance(expression, Member):
            return self._member_pointer(expression, frame)
        if isinstance(expression, Assign):
            return self.address_in(expression.right, frame)
        if isinstance(expression, Ternary):
            return self._chosen_pointer(expression, frame)
        if isinstance(expression, Opaque) and expression.string is not None:
            name = label_without_name(expression)
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
        """Returns the address that `c ? p : q` evaluates to.

        If `p` and `q` point into different arrays, it is an unknown element of a separate array.
        """
        then, other = (
            self.address_in(expression.then, frame),
            self.address_in(expression.other, frame),
        )
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

    def _variable_pointer(self, decl: Decl, frame: Frame) -> Pointer | None:
        held = frame.env.get(decl)
        if isinstance(held, Pointer):
            return held
        if decl.ctype.kind not in ("pointer", "array"):
            return None
        name = self._reference_target(decl, frame)
        if name is not None:
            pointee = decl.ctype.element or UNKNOWN
            return Pointer(name if pointee.kind == "struct" else name[1:], (ZERO,), pointee)
        storage = {"static": "global"}.get(decl.kind, decl.kind)
        if decl in self.private or decl.name in self.private_names:
            # Private arrays and containers have private memory. A private pointer may have a shared
            # target.
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

    def _element_pointer(self, expression: Index, frame: Frame) -> Pointer | None:
        base = self.address_in(expression.base, frame)
        if base is None:
            ctype = expression.base.decl.ctype if isinstance(expression.base, Name) else None
            if ctype is None or ctype.kind not in ("struct", "unknown"):
                return None
            # An overloaded operator[], or a type that depends on a template parameter.
            assert isinstance(expression.base, Name)
            name = self.name_of(expression.base.decl, frame.depth)
            base = self._array_pointer(
                name, CType("pointer", 64, element=UNKNOWN), "unknown", None, frame
            )
        return base.plus(self.value(expression.index, frame))

    def _pointer_sum(self, expression: Binary, frame: Frame) -> Pointer | None:
        base = self.address_in(expression.left, frame)
        if base is not None:
            distance = self.value(expression.right, frame)
            return base.plus(distance if expression.op == "+" else -distance)
        base = self.address_in(expression.right, frame)
        return base.plus(self.value(expression.left, frame)) if base is not None else None

    def _unary_pointer(self, expression: Unary, frame: Frame) -> Pointer | None:
        if expression.op == "*":
            return address_of_first_element(self.address_in(expression.operand, frame))
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
            base = self.address_in(expression.operand, frame)
            if base is None or expression.op.startswith("p"):
                return base
            return base.plus(ONE if expression.op == "++" else -ONE)
        return None

    def _cast_pointer(self, expression: Cast, frame: Frame) -> Pointer | None:
        base = self.address_in(expression.operand, frame)
        ctype = expression.ctype
        if base is None or ctype.element is None or ctype.kind not in ("pointer", "array"):
            return base
        if ctype.element.kind == "array":
            # The cast `(double (*)[n]) p` gives the array the dimensions of the new type.
            return self._array_pointer(f"{base.array}", ctype, "unknown", None, frame)._replace(
                array=base.array
            )
        return as_array_of_type(base, ctype, self.arrays, self.varying)

    def _member_pointer(self, expression: Member, frame: Frame) -> Pointer | None:
        ctype = expression.field.ctype
        if ctype.kind not in ("pointer", "array"):
            return None
        path = self.path(expression, frame)
        set_here = place = None
        if ctype.kind == "pointer":  # copying a struct copies its arrays, but no pointer targets
            set_here, place = self.assigned_members.target_and_origin(path, expression.field, frame)
        if set_here is not None:
            return set_here
        base = expression.base
        if path is not None and place is None:
            self.members[path] = expression.field
            return self._array_pointer(path, ctype, "unknown", expression.field.span, frame)
        if place is None and base is not None:
            place = self.element(base, frame)
        if place is None and base is not None and expression.arrow:
            place = self.address_in(base, frame)  # p->x where p = &cells[i]
        if place is None:
            return None
        name = f"{place.array}[].{expression.field.name}"
        outer = self.arrays.get(place.array)
        # A member array is inside the struct. The target of a member pointer is elsewhere.
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
        """Returns the address of an lvalue, with its type in `pointee`. Returns None for a scalar
        variable or a member of one.
        """
        if isinstance(expression, Index):
            return self._element_pointer(expression, frame)
        if isinstance(expression, Unary) and expression.op == "*":
            return self.address_in(expression.operand, frame)
        if isinstance(expression, Member):
            if expression.base is None:
                return None
            base = expression.base
            place = self.element(base, frame)
            if place is None and expression.arrow:
                place = self.address_in(base, frame)
                if place is not None and not is_in_array_element(
                    base, place, self.arrays.get(place.array)
                ):
                    return None  # p->x is like a scalar variable if p does not change
            if place is None or not place.subscripts:
                return None
            return place.of_member(expression.field)
        if isinstance(expression, Cast) and expression.constructor is None:
            return self.element(expression.operand, frame)
        return None
