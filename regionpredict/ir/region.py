"""A worksharing loop in the form that the analysis needs: its nest, statements, operations and
accesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from typing import NamedTuple

from regionpredict.ir.expr import Expr
from regionpredict.ir.once_a_region import once_a_region
from regionpredict.ir.source import Diagnostic, Span

THREAD_NUMBER = "omp_get_thread_num()"
"""The counter of a loop over the threads, in regions that are shared by thread number."""


class Operation(NamedTuple):
    """An arithmetic operation: `fp_add`, `int_mul`, ... with the width of its operands in bits.

    Kinds: `fp_add` (also subtraction), `fp_mul`, `fp_div`, `fp_sqrt`, `fp_compare`, `fp_neg`,
    `int_add`, `int_mul`, `int_div` (also remainder), `int_compare` and `int_logic` (also shifts).
    `call:NAME` is a function without a visible body. The kind of a division by a constant includes
    the divisor: `fp_div:/0.5`, `int_div:/7`, `int_div:%7u` (an unsigned remainder). `fp_div:folded`
    is a division of two constants.
    """

    kind: str
    bits: int = 64

    @property
    def arithmetic(self) -> str:
        """The kind without the constant operand."""
        return self.kind if self.kind.startswith("call:") else self.kind.partition(":")[0]

    def __str__(self) -> str:
        """The kind, its width, and the divisor: `int_div.32 /7`."""
        known = self.kind[len(self.arithmetic) + 1 :]
        return f"{self.arithmetic}.{self.bits}" + (f" {known}" if known else "")


class Access(NamedTuple):
    """A reference to an array element: one load or store.

    `subscripts` are in the order of `Array.dims`, the slowest first. `bytes` is the size of the
    access. `member` is the struct field (`a[i].x`), and `offset` its distance in bytes from the
    start of the struct. For an array inside a struct, the subscripts count its elements
    (`a[i].v[j]`).
    """

    array: str
    kind: str  # 'read' | 'write'
    subscripts: tuple[Expr, ...]
    text: str
    span: Span
    bytes: int = 8
    member: str = ""
    offset: int = 0


class Call(NamedTuple):
    """A call of a function without a visible body. `memory` says that the function may access
    unknown memory.

    `place` is the lock that the call acquires or releases, or the variable that it updates
    atomically.
    """

    name: str
    span: Span
    memory: bool = False
    place: Access | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or memory that a pointer points to.

    `element_bytes` is the distance between neighboring elements, in bytes. `dims` contains the
    length of each dimension, slowest first. A length that is not declared is None. This is always
    the case for the first dimension of a pointer. `storage` is 'global', 'local', 'parameter',
    'private' (one copy per thread) or 'unknown'. `inside` is set for an array inside the elements
    of another array, such as `cells[].v` for `cells[i].v[j]`. The first dimensions are those of the
    outer array.
    """

    name: str
    element_bytes: int
    dims: tuple[Expr | None, ...]
    storage: str
    declared: Span | None = None
    inside: str = ""


class Statement(NamedTuple):
    """An expression statement, initialized declaration, condition or returned value.

    `operations` counts the arithmetic of one execution, without address arithmetic. `reads` and
    `writes` are the scalars that the statement reads and sets. `role` is 'assign', 'declare',
    'condition', 'return' or 'call'. If the statement sets a scalar, `paths` gives the longest chain
    of operations from each scalar operand to the result, first operation first. For `s = 0.5 * s +
    a[i]`, it is ("s", ("fp_mul", "fp_add")). A chain also contains 'load' if the scalar is part of
    an address, and 'fp_convert' for conversions between integers and floating-point numbers.
    `element_paths` gives the chains from array elements: `a[i] = 0.5 * a[i]` has ("a[i]",
    ("fp_mul",)). `longest` is the longest of all chains.
    """

    text: str
    span: Span
    operations: tuple[tuple[Operation, int], ...]
    accesses: tuple[Access, ...]
    calls: tuple[Call, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    role: str = "assign"
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    element_paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    longest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop `for (variable = start; variable < bound; variable += step)`.

    `comparison` is one of `<`, `<=`, `>`, `>=`, `!=`. `unordered` are the scalars of a
    `simd reduction`, which may be summed in any order. For a loop without a counter (`while`,
    pointer chasing), `variable` is an invented name, and `start`, `bound` and `step` are None.
    `averaged` says that the iteration count depends on data, and that the caller gave the bounds as
    an average. `unsigned_bits` is the width of an unsigned loop variable that counts up, otherwise
    0.
    """

    variable: str
    start: Expr | None
    bound: Expr | None
    comparison: str
    step: Expr | None
    body: tuple[Node, ...]
    span: Span
    kind: str = "for"  # 'for' | 'while' | 'range' | 'calls' of a recursive function
    exits: bool = False  # may exit early: break, return, goto
    unordered: frozenset[str] = frozenset()
    averaged: bool = False
    unsigned_bits: int = 0

    @property
    def trips(self) -> Expr | None:
        """The number of iterations if `start` is not beyond `bound`. None if unknown.

        It is `ceil((bound - start) / step)` for `<`. For `<=`, one element is added. A variable
        step is assumed to have the sign that the comparison implies.
        """
        if self.start is None or self.bound is None or self.step is None:
            return None
        step = self.step.constant
        if step is None:
            return self._trips_by_variable()
        if not isinstance(step, int) or step == 0:
            return None
        distance = self.bound - self.start if step > 0 else self.start - self.bound
        if self.comparison in ("<=", ">="):
            distance = distance + 1
        size = abs(step)
        return (
            distance
            if size == 1
            else Expr.atom("floordiv", distance + (size - 1), Expr.const(size))
        )

    def _trips_by_variable(self) -> Expr | None:
        if self.start is None or self.bound is None or self.step is None:
            return None
        distance, size = self.bound - self.start, self.step
        if self.comparison in (">", ">="):
            distance, size = -distance, -size
        elif self.comparison not in ("<", "<="):
            return None
        if "varying" in size.kinds:
            return None
        beyond = distance - 1 if self.comparison in ("<", ">") else distance
        return Expr.atom("floordiv", beyond + size, size)


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if`, `switch` or `?:` with the statements of its branches. The statement before the
    branch evaluates the condition.

    `kind` is 'if' if the source has an `if` at the line of `span`. `share` is the fraction of
    executions in which the condition holds, from 0 to 1, if the caller gave one. `test` is the
    value of the condition, if it is known. It is not zero in the first branch. `extreme` says that
    the condition holds if a value exceeds all previous values of the enclosing loop. `ending` are
    the numbers of the branches that end this loop (`break`, `return`), and therefore run at most
    once per loop.
    """

    condition: str
    sides: tuple[tuple[Node, ...], ...]
    span: Span
    kind: str = ""
    share: Fraction | None = None
    test: Expr | None = None
    extreme: bool = False
    ending: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """An OpenMP construct inside the region: `critical`, `atomic`, `barrier`, `ordered`, ...

    Bodies of `critical` exclude each other if they have the same `lock`. A lock is the name of a
    directive, a variable, or a function that locks internally. The empty name is a valid lock.
    """

    kind: str
    body: tuple[Node, ...]
    span: Span
    lock: str = ""


class GivenSkew(NamedTuple):
    """The imbalance of a region's iterations, which the caller gives under a `name`.

    `kind` is 'skew' or 'powerlaw'. For 'skew', `value` is the longest iteration divided by the
    mean. For 'powerlaw', it is the exponent of the distribution.
    """

    name: str
    kind: str
    value: Fraction


Node = Loop | Branch | Statement | Synchronisation


class Clause(NamedTuple):
    """A clause of a directive, such as `schedule`. `text` is the text between its parentheses, or
    None if there are no parentheses.
    """

    name: str
    text: str | None = None

    def __str__(self) -> str:
        """Returns the clause as in the source."""
        return self.name if self.text is None else f"{self.name}({self.text})"


WITHHELD = "RP120"
"""The rule for regions that have no result because of an internal error."""


class TeamSynchronisation(NamedTuple):
    """A construct in a `parallel` but outside its worksharing loops: `barrier`, `single`, ...

    `waits` says that all threads synchronize at the end of the construct. `enclosing` are the loops
    of the `parallel` around the construct.
    """

    kind: str
    waits: bool
    enclosing: tuple[Loop, ...]
    span: Span


class OtherName(NamedTuple):
    """A variable of another function: its name in the region, its function, and its location.

    If the region has a variable of the same name, it is called `main:n`, or `n'` if `main:n` is
    ambiguous.
    """

    name: str
    function: str
    span: Span

    @property
    def plain(self) -> str:
        """The variable's own name within its function."""
        return self.name.rstrip("'").removeprefix(f"{self.function}:")

    @property
    def at_home(self) -> str:
        """The variable's name with its function, or with its file outside of functions."""
        return f"{self.function or PurePath(self.span.file).name}:{self.plain}"


class LoopSuccessor(NamedTuple):
    """The construct that directly follows a worksharing loop in a `parallel`, without a statement
    in between.

    `loop` is the location of the loop's directive, and `then` the location of the next loop. `then`
    is None for a `barrier` or the end of the `parallel`.
    """

    loop: Span
    then: Span | None


@dataclass(frozen=True, slots=True)
class ParallelConstruct:
    """The `parallel` directive that starts a region's threads.

    `depth` is the number of the region's `enclosing` loops that contain the directive. The other
    enclosing loops are inside the `parallel`. `successors` contains the worksharing loops whose
    direct successor is known.
    """

    span: Span
    clauses: tuple[Clause, ...]
    depth: int
    synchronisations: tuple[TeamSynchronisation, ...] = ()
    successors: tuple[LoopSuccessor, ...] = ()

    def clause(self, name: str) -> Clause | None:
        """Returns the first clause with this name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)


@dataclass(frozen=True, slots=True)
class Region:
    """One OpenMP worksharing loop and everything inside it.

    `line` is the line of the directive. `context` is 'combined' (`parallel for`), 'inside' (a `for`
    in a `parallel` of the same function) or 'orphaned'. `collapse` is the number of loops, from
    `nest` inward, that share the work. `enclosing` are the loops around the directive, outermost
    first, which repeat the region. `instance` distinguishes the regions of one directive in a
    template: the template's name with its types or its lambda. `shared` are the variables that are
    known to be shared. `reassociates`: the compiler may reorder all sums of floating-point numbers.
    `index_lists` are index tables whose neighboring entries refer to neighboring elements, each
    with its entries per iteration of `nest`. `by_hand`: no directive distributes the loop. Each
    thread selects its part by its number. `span` is then the location of the loop, `nest` the work
    of all threads, and `clauses` the equivalent schedule. `team_size` is the number of threads in
    the loop bounds if they do not call `omp_get_num_threads`. It is a number, or the name of a
    variable that is set before. `over_threads`: the loop counts the threads, and each iteration
    executes a block of `nest`. `nested_in` is the outer `parallel`, if the region's own `parallel`
    always runs inside another one. `nests`: the program enables nested parallelism. By default, an
    inner `parallel` has one thread. `skew` is the distribution of work by data, if the caller gave
    one. `others` are variables of other functions, whose names in the region may have a prime.
    """

    id: str
    span: Span
    function: str
    directive: str
    clauses: tuple[Clause, ...]
    context: str
    collapse: int
    nest: Loop | None
    arrays: tuple[Array, ...]
    enclosing: tuple[Loop, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    parallel: ParallelConstruct | None = None
    instance: str = ""
    shared: frozenset[str] = frozenset()
    reassociates: bool = False
    index_lists: tuple[tuple[str, int], ...] = ()
    by_hand: bool = False
    team_size: str = ""
    over_threads: bool = False
    others: tuple[OtherName, ...] = ()
    nested_in: Span | None = None
    nests: bool = False
    skew: GivenSkew | None = None

    @property
    def is_sections(self) -> bool:
        """Whether the iterations of `nest` are the blocks of a `sections` construct."""
        return "sections" in self.directive.split()

    @property
    def is_taskloop(self) -> bool:
        """Whether the iterations of `nest` are divided into tasks."""
        return "taskloop" in self.directive.split()

    @property
    def is_task(self) -> bool:
        """Whether each iteration of `nest` is an explicit task."""
        return self.directive.split() == ["task"]

    @property
    def per_thread(self) -> bool:
        """Whether each iteration of `nest` is the work of the thread with this number."""
        return self.by_hand and self.nest is not None and self.nest.variable == THREAD_NUMBER

    def in_words(self, text: str) -> str:
        """Returns a text for the user: names with primes are replaced by `function:name`."""
        for other in self.others if "'" in text else ():
            if other.name.endswith("'"):
                name = re.escape(other.name)
                text = re.sub(rf"(?<![\w']){name}(?![\w'])", other.at_home, text)
        return text

    def withheld(self, reason: str) -> Region:
        """Returns the region without its contents. The diagnostic contains the reason."""
        note = Diagnostic(WITHHELD, self.span, f"no answer for this region: {reason}")
        return replace(self, nest=None, arrays=(), diagnostics=(note,))

    def clause(self, name: str) -> Clause | None:
        """Returns the first clause with this name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)

    def array(self, name: str) -> Array:
        """Returns the array with this name. Raises KeyError if there is none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def memories(self) -> dict[str, str]:
        """Maps each array to itself, or to the array whose elements contain it."""
        inside = {array.name: array.inside for array in self.arrays}
        memories = {}
        for name in inside:
            memory = name
            while inside[memory] in inside:
                memory = inside[memory]
            memories[name] = memory
        return memories

    def statements(self) -> Iterator[tuple[Statement, tuple[Loop, ...]]]:
        """Yields every statement with its enclosing loops, the worksharing loop first."""
        return iter(_statements_of(self))

    def placed_statements(
        self,
    ) -> Iterator[tuple[Statement, tuple[Loop, ...], tuple[int, ...]]]:
        """Yields every statement with its enclosing loops and their positions among all loops.

        Positions start at 0 and follow the source order. Empty loops are not counted.
        """
        around: tuple[Loop, ...] = ()
        positions: tuple[int, ...] = ()
        count = 0
        for statement, loops in self.statements():
            if loops is around:  # the statements of a body share one object
                yield statement, loops, positions
                continue
            same = 0
            while same < min(len(loops), len(around)) and loops[same] is around[same]:
                same += 1
            positions = (*positions[:same], *range(count, count + len(loops) - same))
            count += len(loops) - same
            around = loops
            yield statement, loops, positions

    def loops(self) -> tuple[Loop, ...]:
        """Returns every loop that contains a statement, in source order, worksharing loop first."""
        return _loops_of(self)


@once_a_region
def _statements_of(region: Region) -> list[tuple[Statement, tuple[Loop, ...]]]:
    pairs: list[tuple[Statement, tuple[Loop, ...]]] = []
    if region.nest is not None:
        _collect_statements((region.nest,), (), pairs)
    return pairs


@once_a_region
def _loops_of(region: Region) -> tuple[Loop, ...]:
    nested: list[Loop] = []
    for _, loops, positions in region.placed_statements():
        # Positions increase in source order, so all positions beyond the known loops are new.
        new = sum(position >= len(nested) for position in positions)
        nested += loops[len(loops) - new :]
    return tuple(nested)


def statements_in(nodes: Sequence[Node]) -> Iterator[Statement]:
    """Yields all statements inside the nodes, in source order."""
    waiting = [*reversed(nodes)]
    while waiting:  # a loop instead of recursion, since branches may nest hundreds deep
        node = waiting.pop()
        if isinstance(node, Statement):
            yield node
        elif isinstance(node, Branch):
            for side in reversed(node.sides):
                waiting.extend(reversed(side))
        else:
            waiting.extend(reversed(node.body))


def _collect_statements(
    nodes: tuple[Node, ...], loops: tuple[Loop, ...],
    pairs: list[tuple[Statement, tuple[Loop, ...]]],
) -> None:  # fmt: skip
    """Adds every statement inside `nodes`, in source order, with its enclosing loops."""
    for node in nodes:
        if isinstance(node, Statement):
            pairs.append((node, loops))
        elif isinstance(node, Loop):
            _collect_statements(node.body, (*loops, node), pairs)
        elif isinstance(node, Branch):
            for side in node.sides:
                _collect_statements(side, loops, pairs)
        else:
            _collect_statements(node.body, loops, pairs)
