"""A worksharing loop as the analysis sees it: its nest, statements, operations and accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from regionpredict.ir.expr import Expr
from regionpredict.ir.source import Diagnostic, Span


class Operation(NamedTuple):
    """An arithmetic operation: `fp_add`, `int_mul`, ... on operands of so many bits.

    Kinds: `fp_add` (subtractions too), `fp_mul`, `fp_div`, `fp_sqrt`, `fp_compare`, `fp_neg`,
    `int_add`, `int_mul`, `int_div` (remainders too), `int_compare`, `int_logic` (shifts too),
    and `call:NAME` for a function whose body is not seen. A division by a constant says by which:
    `fp_div:/0.5`, `int_div:/7`, `int_div:%7u` (a remainder, of unsigned numbers), and
    `fp_div:folded` that it is one of two constants.
    """

    kind: str
    bits: int = 64

    @property
    def arithmetic(self) -> str:
        """The kind without what is known of its operands."""
        return self.kind if self.kind.startswith("call:") else self.kind.partition(":")[0]

    def __str__(self) -> str:
        """The kind, its width, and what it is divided by: `int_div.32 /7`."""
        known = self.kind[len(self.arithmetic) + 1 :]
        return f"{self.arithmetic}.{self.bits}" + (f" {known}" if known else "")


class Access(NamedTuple):
    """One reference to an array element.

    `subscripts` run from the slowest dimension to the fastest, in elements of `Array.dims`;
    `bytes` is what is moved, `member` names the field of a struct element (`a[i].x`), and `offset`
    is how many bytes beyond the struct's begin it lies; so is that of an array in a struct, whose
    elements its subscripts count (`a[i].v[j]`).
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
    """A call of a function whose body is not seen; `memory`: what it touches is not known.

    `place`: the lock that it takes or releases, or what it updates atomically.
    """

    name: str
    span: Span
    memory: bool = False
    place: Access | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or memory behind a pointer.

    `element_bytes` is the distance in bytes of neighbouring elements. `dims` holds one extent a
    dimension, slowest first, None where the declaration does not say (always so for the first of
    a pointer). `storage` is 'global', 'local', 'parameter', 'private' (one copy a thread) or
    'unknown'. An array that lies in the elements of another one, `cells[].v` of `cells[i].v[j]`,
    says `inside` which: its first dimensions are that one's.
    """

    name: str
    element_bytes: int
    dims: tuple[Expr | None, ...]
    storage: str
    declared: Span | None = None
    inside: str = ""


class Statement(NamedTuple):
    """One expression statement, initialised declaration, condition or returned value.

    `operations` counts the arithmetic of one execution; address arithmetic is not in it. `reads`
    and `writes` are the scalars it uses and sets. `role` is 'assign', 'declare', 'condition',
    'return' or 'call'. `paths` are, where it sets a scalar, by scalar that its value is made of the
    operations on the longest way to it, the first one first: `s = 0.5 * s + a[i]` has ("s",
    ("fp_mul", "fp_add")). Beside operations these are 'load', where the scalar is part of an
    address, and 'fp_convert', between integers and floating-point numbers. `element_paths` are the
    same by the elements of memory that it reads and writes: `a[i] = 0.5 * a[i]` has ("a[i]",
    ("fp_mul",)).
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


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: `for (variable = start; variable < bound; variable += step)`.

    `comparison` is one of `<`, `<=`, `>`, `>=`, `!=`. `unordered` are the scalars of a
    `simd reduction`, which may be summed in any order. For a loop that is not counted (`while`, a
    pointer chase) `variable` is a made-up name and `start`, `bound`, `step` are None. `averaged`:
    data decide its iterations, and its bounds are an average that the caller gave. `unsigned_bits`:
    it is counted up by an unsigned variable of so many, 0 by any other one.
    """

    variable: str
    start: Expr | None
    bound: Expr | None
    comparison: str
    step: Expr | None
    body: tuple[Node, ...]
    span: Span
    kind: str = "for"  # 'for' | 'while' | 'range'
    exits: bool = False  # leaves early: break, return, goto
    unordered: frozenset[str] = frozenset()
    averaged: bool = False
    unsigned_bits: int = 0

    @property
    def trips(self) -> Expr | None:
        """How often the body runs, taking it that `start` is not beyond `bound`; None: unknown.

        `ceil((bound - start) / step)` for `<`; one more element for `<=`. A step by a variable is
        taken to go the way that the comparison says.
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
    """An `if`, `switch` or `?:` whose sides hold statements; the condition stands before it.

    `kind` is 'if' where the source has one there, with the line of `span`. `share` is how often its
    condition holds, 0 to 1, where the caller gave that. `test` is the condition's value, where it
    has one, which is not zero on the first side. `extreme`: it holds when a value passes all those
    before it in the loop around.
    """

    condition: str
    sides: tuple[tuple[Node, ...], ...]
    span: Span
    kind: str = ""
    share: Fraction | None = None
    test: Expr | None = None
    extreme: bool = False


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """An OpenMP construct inside the region: `critical`, `atomic`, `barrier`, `ordered`, ...

    Bodies of `critical` keep only those out that have the same `lock`: a directive's name, a
    variable, or a function with a lock of its own. Empty is one name more.
    """

    kind: str
    body: tuple[Node, ...]
    span: Span
    lock: str = ""


class GivenSkew(NamedTuple):
    """How unevenly the work lies over a region's iterations, as the caller gave it under a `name`.

    `kind` is 'skew' (`value`: the longest iteration over the mean one) or 'powerlaw' (the exponent
    of their distribution).
    """

    name: str
    kind: str
    value: Fraction


Node = Loop | Branch | Statement | Synchronisation


class Clause(NamedTuple):
    """A clause of a directive: `schedule` with the text between its parentheses, or None."""

    name: str
    text: str | None = None


WITHHELD = "RP120"
"""The rule of what has no answer since this program failed on it."""


class TeamSynchronisation(NamedTuple):
    """A construct of a `parallel` outside its worksharing loops: `barrier`, `single`, `master`, ...

    `waits`: all threads meet at its end. `enclosing` are the loops of the `parallel` around it.
    """

    kind: str
    waits: bool
    enclosing: tuple[Loop, ...]
    span: Span


class OtherName(NamedTuple):
    """A variable of another function: its name in the region, the function that has it, and where.

    Where the region has one of that name itself, it is called `main:n`, or `n'` where that would
    not tell it apart.
    """

    name: str
    function: str
    span: Span

    @property
    def plain(self) -> str:
        """What its own function calls it."""
        return self.name.rstrip("'").removeprefix(f"{self.function}:")


class LoopSuccessor(NamedTuple):
    """What comes directly after a worksharing loop of a `parallel`, no statement between them.

    `loop` is the place of its directive, `then` that of the next loop's; None: all threads meet,
    at a `barrier` or at the end of the `parallel`.
    """

    loop: Span
    then: Span | None


@dataclass(frozen=True, slots=True)
class ParallelConstruct:
    """The `parallel` directive that starts the team of a region.

    `depth`: how many of the region's `enclosing` loops stand around it, the others are inside.
    `successors` has the worksharing loops of which it is seen what comes directly after them.
    """

    span: Span
    clauses: tuple[Clause, ...]
    depth: int
    synchronisations: tuple[TeamSynchronisation, ...] = ()
    successors: tuple[LoopSuccessor, ...] = ()

    def clause(self, name: str) -> Clause | None:
        """The first clause of that name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)


@dataclass(frozen=True, slots=True)
class Region:
    """One OpenMP worksharing loop and everything inside it.

    `line` is the directive's. `context` says where its threads come from: 'combined'
    (`parallel for`), 'inside' (a `for` in a `parallel` of the same function) or 'orphaned'.
    `collapse` loops from `nest` inward share the work. `enclosing` are the loops around the
    directive, outermost first, which repeat the region. `instance` tells apart the regions that
    one directive in a template has: the name of the template with its types or its lambda.
    `shared` are the variables that are surely one for all threads. `reassociates`: the compiler may
    reorder all sums of floating-point numbers. `index_lists` are tables whose neighbouring entries
    name neighbouring elements, each with its entries an iteration of `nest`. `by_hand`: no
    directive shares the loop, each thread takes its part by its own number; `span` is the loop's,
    `nest` has what all threads do together, and `clauses` the schedule that this amounts to.
    `team_size` is what its bounds then take as the number of threads, where they do not ask the
    team itself: a number, or the name of what has been set before. `over_threads`: the directive's
    own loop counts the threads, each of which does a block of `nest`. `nested_in` is the `parallel`
    inside which the region's own always runs. `nests`: the program lets teams start teams, which
    have one thread otherwise. `skew` is how data spread the work, where the caller gave that.
    `others` are the names with a prime, of variables that others of the region share their own name
    with.
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

    def withheld(self, reason: str) -> Region:
        """The region without what is in it, for which there is no answer, and why."""
        note = Diagnostic(WITHHELD, self.span, f"no answer for this region: {reason}")
        return replace(self, nest=None, arrays=(), diagnostics=(note,))

    def clause(self, name: str) -> Clause | None:
        """The first clause of that name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)

    def array(self, name: str) -> Array:
        """The array of that name; KeyError where the region has none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def memories(self) -> dict[str, str]:
        """Every array's name, and of those that lie in the elements of another one that one's."""
        inside = {array.name: array.inside for array in self.arrays}
        memories = {}
        for name in inside:
            memory = name
            while inside[memory] in inside:
                memory = inside[memory]
            memories[name] = memory
        return memories

    def statements(self) -> Iterator[tuple[Statement, tuple[Loop, ...]]]:
        """Every statement with the loops around it, the worksharing loop first."""
        pairs: list[tuple[Statement, tuple[Loop, ...]]] = []
        if self.nest is not None:
            _gather((self.nest,), (), pairs)
        return iter(pairs)

    def placed_statements(
        self,
    ) -> Iterator[tuple[Statement, tuple[Loop, ...], tuple[int, ...]]]:
        """Every statement with the loops around it and their positions among all, from 0.

        Loops count in source order, those without a statement in them left out.
        """
        around: tuple[Loop, ...] = ()
        positions: tuple[int, ...] = ()
        count = 0
        for statement, loops in self.statements():
            if loops is around:  # one object for the statements of one body
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
        """Every loop that has a statement in it, the worksharing loop first, in source order."""
        nested: list[Loop] = []
        for _, loops, positions in self.placed_statements():
            # Positions count up: what lies beyond those that are known is new.
            new = sum(position >= len(nested) for position in positions)
            nested += loops[len(loops) - new :]
        return tuple(nested)


def statements_in(nodes: Sequence[Node]) -> Iterator[Statement]:
    """All statements below the nodes, in source order."""
    for node in nodes:
        if isinstance(node, Statement):
            yield node
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from statements_in(side)
        else:
            yield from statements_in(node.body)


def _gather(
    nodes: tuple[Node, ...], loops: tuple[Loop, ...],
    pairs: list[tuple[Statement, tuple[Loop, ...]]],
) -> None:  # fmt: skip
    """Adds every statement below `nodes`, in source order, with the loops around it."""
    for node in nodes:
        if isinstance(node, Statement):
            pairs.append((node, loops))
        elif isinstance(node, Loop):
            _gather(node.body, (*loops, node), pairs)
        elif isinstance(node, Branch):
            for side in node.sides:
                _gather(side, loops, pairs)
        else:
            _gather(node.body, loops, pairs)
