"""Inlines the calls of a region to functions whose bodies are visible."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import PurePath
from typing import Protocol

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.function_pointers import (
    Functions,
    Targets,
    member_functions,
    optional_call,
    pointed_functions,
)
from regionpredict.frontend.lowering.library_algorithms import algorithm_loops
from regionpredict.frontend.lowering.library_calls import has_loops, library_loops
from regionpredict.frontend.lowering.member_pointers import pass_members_on
from regionpredict.frontend.lowering.operand_paths import OperandPaths, Paths
from regionpredict.frontend.lowering.program_ends import ends_program
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    UNKNOWN,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    ExprStmt,
    Function,
    Member,
    Name,
    Stmt,
    Unary,
    calls_in,
    declared_in,
    is_variable,
    show,
    without_casts,
)
from regionpredict.ir import Call, Expr, Loop, Node, Span
from regionpredict.library import is_synchronisation

_MAX_INLINE = 12
_MAX_STATEMENTS = 1000  # per region; each statement costs time for every size that is tried
# Limits for regions whose called functions all have visible bodies. Such regions can be predicted
# completely, so the effort pays off.
_MAX_VISIBLE_INLINE = 32
_MAX_VISIBLE_STATEMENTS = 8000
_MOST_NAMED = 6  # maximum number of targets of a call that a message lists

InliningResult = CType | CallExpr | None


class Lowering(Protocol):
    """The interface through which inlined functions are lowered. `statements` counts the lowered
    statements.
    """

    statements: int

    def lower(self, statement: Stmt | None, frame: Frame) -> list[Node]:
        """Lowers a statement and its parts to IR nodes."""

    def lower_argument(
        self, argument: Expression, span: Span, frame: Frame
    ) -> tuple[list[Node], Paths]:
        """Lowers an argument of an inlined call. Returns its nodes and its dependency paths."""

    def lower_branches(self, condition: str, sides: list[Stmt], span: Span, frame: Frame) -> Node:
        """Lowers the branches of a condition, and merges the values that they assign."""

    def uncounted_loop(
        self, name: str, repeated: Stmt, written: Collection[Decl], frame: Frame,
        lower_iteration: Callable[[], list[Node]], span: Span, kind: str = "while",
    ) -> Loop:  # fmt: skip
        """Returns a loop with an unknown number of iterations. `lower_iteration` lowers one
        iteration, which may assign the variables in `written`.
        """

    def report(self, rule: str, span: Span, message: str) -> None:
        """Adds a diagnostic to the region."""


class CallInliner:
    """Inlines the calls of one region, and tracks the call stack during inlining."""

    def __init__(
        self, unit: LinkedUnit, context: Context, function: Function, lowering: Lowering,
        trees: CallTrees, *, is_task: bool,
    ) -> None:  # fmt: skip
        self.unit = unit
        self.trees = trees
        self.context = context
        self.function = function
        self.lowering = lowering
        self.call_stack: list[Decl] = [function.decl]
        # A task may call its own function, and is then one of the calls of a recursion.
        self._uncalled = 1 if is_task else 0
        # The recursive functions on the stack, and whether a recursive call was found.
        self._recursive_calls: dict[Function, bool] = {}
        self.returned: CType = UNKNOWN
        self.operands = OperandPaths()
        self.results: list[list[Expr | Pointer | None]] = []  # return values, per function on stack
        self.passed_arguments: dict[
            Decl, tuple[Expression, Function]
        ] = {}  # the argument of each parameter, with the function that passes it
        self.loop: Stmt | None = None
        # Messages on calls whose possible targets access different memory.
        self._several_targets_notes: dict[tuple[str, Span], str] = {}
        # Whether all called functions have visible bodies. None if not computed yet.
        self._all_bodies_visible: bool | None = None
        # For each function on the call stack, the number of loops around its call.
        self._loops_at_call = [0]

    def continue_from(self, other: CallInliner) -> None:
        """Copies the call stack of another inliner."""
        self.loop, self.call_stack, self.passed_arguments = (
            other.loop,
            list(other.call_stack),
            dict(other.passed_arguments),
        )
        self._loops_at_call = list(other._loops_at_call)
        self._recursive_calls = dict(other._recursive_calls)

    @property
    def in_loop(self) -> bool:
        """Whether the current statement is in a loop of the current function."""
        return len(self.context.open_loops) > self._loops_at_call[-1]

    def inline_call(self, call: CallExpr, frame: Frame, nodes: list[Node]) -> InliningResult:
        """Inlines a call and returns the type of its result. Returns the call of a library function
        if it replaces the call, and None if the call cannot be inlined.
        """
        original_call = call
        self.context.followed.discard(original_call)
        targets = self._targets_of_pointer(call)
        functions = targets.functions
        representative = self.trees.representative_target(functions)
        if representative is not None:
            call = call._replace(name=representative.name, decl=representative, pointer=None)
        function = self.unit.body_of(call.decl) if call.decl is not None else None
        sides = self.trees.branch_targets(functions) if representative is None else ()
        if sides:
            return self._inline_branches(original_call, targets, sides, frame, nodes)
        if len(functions) > 1 or (representative is not None and targets.others):
            self._report_several_targets(original_call, targets, representative)
        if function is None or call.decl is None:
            result = self._library_call(call, frame, nodes)
            return call if result is None and representative is not None else result
        if ends_program(self.unit, function.body):
            return call.decl.ctype
        if self.trees.only_writes_messages(function):
            return call._replace(name="fprintf", decl=None, pointer=None)
        if function in self._recursive_calls:
            self._recursive_calls[function] = True
            for argument in call.args:
                nodes += self.lowering.lower_argument(argument, call.span, frame)[0]
            self.context.followed.add(original_call)
            self.context.returned.pop(original_call, None)
            return call.decl.ctype
        if call.decl in self.call_stack[self._uncalled :] or not self._is_within_limits():
            self.lowering.report(
                "RP108", call.span, f"{call.name}() is not inlined: counted as a call"
            )
            return None
        ctype = self._inline_function(original_call, call.decl, call.args, function, frame, nodes)
        if len(functions) > 1:
            self.context.returned.pop(original_call, None)  # other targets may return other values
        return ctype

    def _inline_function(
        self, original_call: CallExpr, decl: Decl, args: tuple[Expression, ...], function: Function,
        frame: Frame, nodes: list[Node],
    ) -> CType:  # fmt: skip
        """Inlines the statements of a function and returns the type of its result."""
        to_arguments = []
        for argument in args:
            before, paths = self.lowering.lower_argument(argument, original_call.span, frame)
            nodes += before
            to_arguments.append(paths)
        inner = self.context.values_at_start(function, args, frame)
        if function.closure:  # a lambda also accesses the variables of the enclosing function
            self.context.private.update(declared_in(function.body), function.parameters)
        pass_members_on(self.context, frame, inner)
        self.operands.enter({
            self.context.name_of(parameter, inner.depth): paths
            for parameter, paths in zip(function.parameters, to_arguments, strict=False)
        })  # fmt: skip
        at = self._current_function()
        self.passed_arguments.update((parameter, (argument, at)) for parameter, argument
                           in zip(function.parameters, args, strict=False))  # fmt: skip
        recursive = self.trees.is_recursive(function)
        self.call_stack.append(decl)
        # A `return` in a recursive function does not end the loop that represents its calls.
        self._loops_at_call.append(len(self.context.open_loops) + recursive)
        self.results.append([])
        outer, self.returned = self.returned, decl.ctype
        self.context.frames.append(frame)
        self.context.followed.add(original_call)
        if recursive:
            nodes += self._inline_recursive(function, inner)
        else:
            nodes += self.lowering.lower(function.body, inner)
        self.context.frames.pop()
        self.call_stack.pop()
        self._loops_at_call.pop()
        pass_members_on(self.context, inner, frame)
        if function.closure:  # a lambda may assign variables of the enclosing function
            own = set(function.parameters) | declared_in(function.body)
            frame.env.update((d, held) for d, held in inner.env.items() if d not in own)
        self._record_return_value(original_call, self.results.pop())
        self.operands.leave(original_call)
        ctype = decl.ctype if decl.ctype.kind != "unknown" else self.returned
        self.returned = outer
        return ctype

    def _inline_recursive(self, function: Function, inner: Frame) -> list[Node]:
        """Lowers a recursive function to a loop whose iterations are its calls. An argument is
        constant only if all recursive calls pass it on unchanged.
        """
        decl = function.decl
        calls = [call for called, some in calls_in(function.body).items()
                 if self.unit.body_of(called) is function for call in some]  # fmt: skip
        written = set(self.unit.effects.written_in(function.body))
        written.update(
            parameter for number, parameter in enumerate(function.parameters)
            if not calls or not all(_passes_parameter_on(call, number, parameter) for call in calls)
        )  # fmt: skip

        def lower_iteration() -> list[Node]:
            return self.lowering.lower(function.body, inner)

        self._recursive_calls[function] = False
        name = f"{decl.name}@{decl.span.line}"
        loop = self.lowering.uncounted_loop(
            name, function.body, written, inner, lower_iteration, decl.span, "calls"
        )
        if not self._recursive_calls.pop(function):
            return list(loop.body)
        self.results[-1] = []
        message = f"the calls of the recursive function {decl.name}() are not counted"
        self.lowering.report("RP105", decl.span, message)
        return [loop]

    def _inline_branches(
        self, call: CallExpr, targets: Targets, sides: Functions, frame: Frame,
        nodes: list[Node],
    ) -> InliningResult:  # fmt: skip
        """Inlines the largest of the possible targets of a call, as branches of an unknown
        condition.
        """
        pointer = show(call.pointer) if call.pointer is not None else call.name
        calls: list[Stmt] = [
            ExprStmt(call._replace(name=decl.name, decl=decl, pointer=None), call.span)
            for decl in sides
        ]
        nodes.append(self.lowering.lower_branches(pointer, calls, call.span, frame))
        self.context.followed.add(call)
        self.context.returned.pop(call, None)
        at = f"{pointer}() at line {call.span.line} may"
        if len(sides) == len(targets.functions) and not targets.others:
            message = (
                f"{at} be any of {_list_of_names(sides)}: all are assumed to be equally frequent"
            )
            self.lowering.report("RP117", call.span, message)
        else:
            message = f"{at} reach other functions than {_list_of_names(sides)}, which are assumed"
            self.lowering.report("RP123", call.span, message)
        return sides[0].ctype

    def _is_within_limits(self) -> bool:
        """Returns whether another function can be inlined within the limits."""
        so_far, depth = self.lowering.statements, len(self.call_stack)
        if depth <= _MAX_INLINE and so_far <= _MAX_STATEMENTS:
            return True
        if depth > _MAX_VISIBLE_INLINE or so_far > _MAX_VISIBLE_STATEMENTS:
            return False
        if self._all_bodies_visible is None:
            whole = self.trees.tree_of_loop(self.loop, self.function)
            self._all_bodies_visible = (
                whole.all_visible
                and whole.depth <= _MAX_VISIBLE_INLINE
                and whole.statements <= _MAX_VISIBLE_STATEMENTS
            )
        return self._all_bodies_visible

    def _current_function(self) -> Function:
        """Returns the function whose statements are being lowered."""
        return self.unit.body_of(self.call_stack[-1]) or self.function

    def optional_call(self, condition: Expression, side: Stmt) -> CallExpr | None:
        """Returns the call in `if (hook) hook(p);` if no source assigns the function pointer, and
        reports the assumption that it is null.
        """
        call = optional_call(condition, side, lambda call: self._targets_of_pointer(call).functions)
        if call is not None and call.pointer is not None:
            message = (
                f"{show(call.pointer)}() at line {call.span.line} may be a function of the user"
            )
            self.lowering.report(
                "RP123", call.span, f"{message}: its pointer is assumed to be null"
            )
        return call

    def _targets_of_pointer(self, call: CallExpr) -> Targets:
        """Returns the possible targets of a call through a pointer."""
        if call.decl is not None or call.pointer is None:
            return Targets()
        return self._functions_of_expression(call.pointer, self._current_function())

    def _functions_of_expression(self, pointer: Expression, at: Function) -> Targets:
        """Returns the functions to which a function pointer in the function `at` may point.

        Sources are the argument of an inlined call, the struct that the call passes, or all stores
        in the program.
        """
        if isinstance(pointer, Name) and pointer.decl in self.passed_arguments:
            argument, caller = self.passed_arguments[pointer.decl]
            return self._functions_of_expression(argument, caller)
        targets = pointed_functions(self.unit, pointer, at)
        if len(targets.functions) < 2 or not isinstance(pointer, Member):
            return targets
        own = self._functions_in_local_struct(pointer.base, pointer.field.name, at)
        return targets._replace(functions=own) if own else targets

    def _functions_in_local_struct(
        self, struct: Expression | None, member: str, at: Function
    ) -> Functions:
        """Returns the functions assigned to a member of a local struct whose address inlined calls
        receive.
        """
        while isinstance(struct, Cast) or (isinstance(struct, Unary) and struct.op in "&*"):
            struct = struct.operand
        if not isinstance(struct, Name):
            return ()
        if struct.decl in self.passed_arguments:
            argument, caller = self.passed_arguments[struct.decl]
            return self._functions_in_local_struct(argument, member, caller)
        return member_functions(self.unit, at, struct.decl, member)

    def _report_several_targets(
        self, call: CallExpr, targets: Targets, representative: Decl | None
    ) -> None:
        """Reports that a call has several targets, and which function represents them."""
        shown = _list_of_names(targets.functions)
        pointer = show(call.pointer) if call.pointer is not None else call.name
        if representative is None:
            self._several_targets_notes[call.name, call.span] = (
                f"what memory {pointer}() touches is unknown: it may be any of {shown},"
                " which do not touch the same"
            )
            return
        at = f"{pointer}() at line {call.span.line}"
        if targets.others:
            message = (
                f"{at} may reach other functions than {shown}: {representative.name}() is assumed"
            )
            self.lowering.report("RP123", call.span, message)
        else:
            message = f"{at} counts as {representative.name}(), the most expensive of {shown}"
            self.lowering.report("RP117", call.span, message)

    def report_unseen(self, call: Call) -> None:
        """Reports that a call was not inlined and its effects are unknown."""
        several = self._several_targets_notes.get((call.name, call.span))
        if several is not None:
            self.lowering.report("RP113", call.span, several)
            return
        if call.place is not None or is_synchronisation(call.name):
            return
        message = f"the body of {call.name}() is unknown: counted as a call"
        self.lowering.report("RP103", call.span, message)
        if call.memory:
            message = f"what memory {call.name}() touches is unknown"
            self.lowering.report("RP113", call.span, message)

    def record_result(self, value: Expression, frame: Frame) -> None:
        """Records a possible return value of the current function."""
        if not self.results:
            return
        kind = self.call_stack[-1].ctype.kind
        result: Expr | Pointer | None = None
        if kind == "int":
            result = self.context.value(value, frame)
        elif kind == "pointer":
            result = self.context.address_in(value, frame)
        self.results[-1].append(result)

    def _record_return_value(self, call: CallExpr, results: list[Expr | Pointer | None]) -> None:
        """Records the value of an inlined call, if all its return statements agree."""
        self.context.returned.pop(call, None)
        first = results[0] if results else None
        if first is None:
            return
        if all(result == first for result in results):
            self.context.returned[call] = first
        elif isinstance(first, Pointer) and all(
            isinstance(result, Pointer) and result.array == first.array for result in results
        ):
            moved = first.plus(self.context.varying(call.name))
            self.context.returned[call] = moved

    def _record_element(self, call: CallExpr, frame: Frame) -> None:
        """Records that a library algorithm returns a pointer to an unknown element of its array."""
        array = self.context.address_in(call.args[0], frame)
        if array is not None and call.decl is not None and call.decl.ctype.kind == "pointer":
            self.context.returned[call] = array.plus(self.context.varying(call.name))

    def _library_call(self, call: CallExpr, frame: Frame, nodes: list[Node]) -> CType | None:
        """Lowers the loops that replace a library function. Returns None for any other function."""
        rivals = self.unit.ambiguous_places(call.decl) if call.decl is not None else ()
        if rivals:
            places = ", ".join(f"{span.file}:{span.line}" for span in rivals[:3])
            message = f"{call.name}() has several definitions ({places}): none is inlined"
            self.lowering.report("RP103", call.span, message)
            return None
        algorithm = algorithm_loops(call, self.context, frame)
        if algorithm is not None:
            for argument in call.args[1:3]:
                nodes += self.lowering.lower_argument(argument, call.span, frame)[0]
            nodes += self.lowering.lower(algorithm, frame)
            self._record_element(call, frame)
            return call.decl.ctype if call.decl is not None else UNKNOWN
        if not has_loops(call):
            return None
        before: list[Node] = []
        for argument in call.args:
            before += self.lowering.lower_argument(argument, call.span, frame)[0]
        loops = library_loops(call, self.context, frame)
        if loops is None:
            return None
        nodes += [*before, *loops]
        if any(isinstance(node, Loop) and node.trips is None for node in loops):
            message = f"the length of the text that {call.name}() reads is unknown"
            self.lowering.report("RP105", call.span, message)
        return call.decl.ctype if call.decl is not None else UNKNOWN


def _list_of_names(functions: Functions) -> str:
    """Returns a list such as `add(), sub() and 3 more`. Functions of the same name also show their
    source positions.
    """
    names = [f"{function.name}()" for function in functions]
    if len(set(names)) < len(names):
        spans = [function.span for function in functions]
        names = [f"{name} ({PurePath(span.file).name}:{span.line})"
                 for name, span in zip(names, spans, strict=True)]  # fmt: skip
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _passes_parameter_on(call: CallExpr, number: int, parameter: Decl) -> bool:
    """Returns whether an argument of a recursive call is a parameter of the caller."""
    return number < len(call.args) and is_variable(without_casts(call.args[number]), parameter)
