"""The nest in numbers: loops with values for their bounds, references as affine addresses.

References to one array whose addresses differ by a constant form a reference group (Wolf and Lam
1991, "uniformly generated"): `a[i-1]`, `a[i]` and `a[i+1]` are one stream. A group's footprint is
counted in whole cache lines from its strides alone, so that no size costs more than another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from regionpredict.analysis.dimensions import unclamped
from regionpredict.ir import Access, Array, Expr, Loop, Region, Statement
from regionpredict.ir.region import Branch, Node, Synchronisation

LINE = 64
UNKNOWN_TRIPS = 16.0
"""Iterations taken for a loop whose bounds depend on data (rows of a sparse matrix)."""
UNKNOWN_EXTENT = 1 << 20

Env = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant + sum(slopes[v] * v)` over loop variables."""

    constant: float
    slopes: dict[str, float]

    def at(self, env: Env) -> float:
        """The value for given loop variables (absent ones count as 0)."""
        total = self.constant
        for name, slope in self.slopes.items():
            total += slope * env.get(name, 0.0)
        return total

    @property
    def names(self) -> frozenset[str]:
        """The loop variables in it."""
        return frozenset(self.slopes)


@dataclass(frozen=True, slots=True)
class Curved:
    """An expression of loop variables that is not affine: `min(ii + 8, n)`, `i / 2`."""

    expr: Expr
    values: Mapping[str, int | Fraction]
    names: frozenset[str]

    def at(self, env: Env) -> float:
        """The value at loop variables rounded to whole numbers; NaN where there is none."""
        bound: dict[str, int | Fraction] = dict(self.values)
        for name in self.names:
            bound[name] = round(env.get(name, 0.0))
        value = self.expr.evaluate(bound)
        return float("nan") if value is None else float(value)


Form = Affine | Curved


@dataclass(slots=True, eq=False)
class NumericLoop:
    """A loop whose bounds have values: `variable` takes `trips` values from `start` by `step`.

    `first` and `limit` are forms over the variables of the loops around it; `limit` is exclusive
    in the direction of `step`. Both are None where the bounds are not known (`trips` is then
    `UNKNOWN_TRIPS`). `parallel` loops share their iterations among the threads.
    """

    variable: str
    first: Form | None
    limit: Form | None
    step: int
    source: Loop
    parallel: bool = False
    children: list[NumericLoop] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    depends: frozenset[str] = frozenset()
    samples: tuple[float, ...] | None = None  # work along a parallel loop, once asked for
    chunk: float | None = None  # iterations of one thread's piece, for the parallel loop
    part: tuple[float, float] | None = None  # from where to where (0..1) of that it runs

    def trips(self, env: Env) -> float:
        """Iterations with the loops around it at `env`; at least 0."""
        if self.first is None or self.limit is None:
            return UNKNOWN_TRIPS
        distance = (self.limit.at(env) - self.first.at(env)) / self.step
        return 0.0 if not distance > 0 else distance if abs(self.step) == 1 else -(-distance // 1)

    def begin(self, env: Env) -> float:
        """The first value of the variable."""
        return 0.0 if self.first is None else self.first.at(env)

    def piece(self, env: Env) -> tuple[float, float]:
        """(first value, iterations) of what one thread runs; the middle piece stands for all."""
        begin, trips = self.begin(env), self.trips(env)
        if self.chunk is not None and self.chunk < trips:
            begin += self.step * (trips - self.chunk) / 2
            trips = self.chunk
        if self.part is not None:
            begin += self.step * trips * self.part[0]
            trips *= self.part[1] - self.part[0]
        return begin, trips

    def below(self) -> frozenset[str]:
        """The variables on which bounds inside this loop depend."""
        found: frozenset[str] = frozenset()
        for child in self.children:
            found |= child.depends | child.below()
        return found


@dataclass(slots=True, eq=False)
class Group:
    """References to one array in one loop body whose byte addresses differ by constants.

    `slopes` are bytes by which the address moves per unit of each variable; `offsets` the
    constants in bytes, `written` those that are stored to. `irregular` groups have an address that
    depends on data or is no affine function: `extent` is then the bytes they spread over.
    """

    array: str
    element: int
    slopes: dict[str, float]
    offsets: tuple[float, ...]
    written: tuple[float, ...]
    loops: tuple[NumericLoop, ...]
    irregular: bool
    extent: float
    private: bool  # every thread has an array of its own
    accesses: tuple[Access, ...]
    drifts: frozenset[str] = frozenset()  # variables by which threads are at different places


@dataclass(frozen=True, slots=True)
class Nest:
    """A region in numbers. `assumed` says which bounds or extents had to be guessed.

    `memo` keeps what has been counted of this nest, for other caches and numbers of threads.
    """

    root: NumericLoop
    parallel: tuple[NumericLoop, ...]
    assumed: tuple[str, ...]
    memo: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    def loops(self) -> Iterator[NumericLoop]:
        """Every loop, outermost first."""
        waiting = [self.root]
        while waiting:
            loop = waiting.pop(0)
            yield loop
            waiting = loop.children + waiting

    def groups(self) -> Iterator[Group]:
        """Every reference group."""
        for loop in self.loops():
            yield from loop.groups


def nest_of(region: Region, values: Mapping[str, int | Fraction]) -> Nest | None:
    """The region's nest with `values` for its names; None where there is no loop to read."""
    if region.nest is None:
        return None
    return _Lowering(region, values).nest()


def work(loops: Iterable[NumericLoop], env: Env) -> float:
    """Innermost iterations of `loops`, each taken at the middle of those around it."""
    total = 0.0
    for loop in loops:
        trips = loop.trips(env)
        middle = loop.begin(env) + loop.step * max(0.0, trips - 1) / 2
        total += trips * max(1.0, work(loop.children, {**env, loop.variable: middle}))
    return total


def _uneven(root: NumericLoop) -> bool:
    """Whether iterations of the parallel loop differ in work, so that threads fall out of step."""
    trips, begin = root.trips({}), root.begin({})
    found = [
        work(root.children, {root.variable: begin + root.step * place * max(0.0, trips - 1)}) + 1
        for place in (0.0, 0.3, 1.0)
    ]
    return max(found) > 1.1 * min(found)


def _drifts(group: Group, shared: set[str]) -> frozenset[str]:
    """The variables that move the group over a range that differs between threads."""
    reached = set(shared)
    found = set()
    for loop in group.loops:
        if loop.depends & reached:
            reached.add(loop.variable)
            if group.slopes.get(loop.variable):
                found.add(loop.variable)
    return frozenset(found)


def in_order(subscript: Expr, inner: str, picked: set[str]) -> Expr:
    """The subscript with tables that stand still in the loop over `inner` read as their index.

    `picked` gets the names in these indices.

    >>> i, j = Expr.name("i"), Expr.name("j")
    >>> names = set()
    >>> row = Expr.atom("ref", i + 1, label="row")
    >>> str(in_order(row * 100 + j, "j", names)), names
    ('100*i + j + 100', {'i'})
    """
    total = Expr.const(0)
    for monomial, number in subscript.terms.items():
        term = Expr.const(number)
        for factor, power in monomial:
            if isinstance(factor, str):
                term = term * Expr.name(factor) ** power
                continue
            one = Expr({((factor, 1),): 1})
            if factor.kind == "ref" and len(factor.args) == 1 and inner not in one.names:
                picked |= factor.args[0].names
                one = factor.args[0]
            term = term * one**power
        total = total + term
    return total


class _Lowering:
    """Turns the expressions of one region into numbers."""

    def __init__(self, region: Region, values: Mapping[str, int | Fraction]) -> None:
        self.region = region
        self.values = values
        self.variables = frozenset(
            loop.variable for _, loops in region.statements() for loop in loops
        )
        self.arrays = {array.name: array for array in region.arrays}
        self.assumed: list[str] = []
        self.shifted: dict[str, tuple[str, float]] = {}  # k of CSR rows: k = k' + trips * i

    def nest(self) -> Nest:
        source = self.region.nest
        assert source is not None
        root = self._loop(source, (), 0)
        parallel: list[NumericLoop] = []
        loop: NumericLoop | None = root
        while loop is not None and len(parallel) < max(1, self.region.collapse):
            loop.parallel = True
            parallel.append(loop)
            loop = loop.children[0] if loop.children else None
        names = {one.variable for one in parallel}
        uneven = _uneven(root)
        nest = Nest(root, tuple(parallel), tuple(dict.fromkeys(self.assumed)))
        for group in nest.groups():
            storage = self.arrays[group.array].storage if group.array in self.arrays else ""
            group.private = storage == "private"
            moves = any(group.slopes.get(name) for name in names)
            if uneven and not (group.private or group.irregular or moves):
                group.drifts = _drifts(group, names)
        return nest

    def _loop(self, source: Loop, around: tuple[NumericLoop, ...], depth: int) -> NumericLoop:
        step = source.step.evaluate(self.values) if source.step is not None else None
        size = step if isinstance(step, int) and step else 1
        first = self.form(source.start)
        limit = self.form(source.bound)
        if source.comparison in ("<=", ">=") and isinstance(limit, Affine):
            limit = Affine(limit.constant + (1 if size > 0 else -1), limit.slopes)
        elif source.comparison in ("<=", ">=") and isinstance(limit, Curved):
            limit = Curved(limit.expr + (1 if size > 0 else -1), limit.values, limit.names)
        if first is None or limit is None or (isinstance(step, int) and step == 0):
            first = limit = None
            self.assumed.append(
                f"{UNKNOWN_TRIPS:.0f} iterations of the loop over {source.variable} "
                f"(line {source.span.line})"
            )
            if around and not self._unit_start(source):
                self.shifted[source.variable] = (around[-1].variable, UNKNOWN_TRIPS)
        loop = NumericLoop(source.variable, first, limit, size, source)
        if first is not None and limit is not None:
            loop.depends = first.names | limit.names
        chain = (*around, loop)
        accesses: list[Access] = []
        self._body(source.body, chain, loop, accesses)
        loop.groups = self._grouped(accesses, chain)
        return loop

    @staticmethod
    def _unit_start(source: Loop) -> bool:
        return source.start is not None and source.start.constant is not None

    def _body(
        self,
        nodes: tuple[Node, ...],
        chain: tuple[NumericLoop, ...],
        loop: NumericLoop,
        accesses: list[Access],
    ) -> None:
        for node in nodes:
            if isinstance(node, Statement):
                accesses.extend(node.accesses)
            elif isinstance(node, Loop):
                loop.children.append(self._loop(node, chain, len(chain)))
            elif isinstance(node, Branch):
                for side in node.sides:
                    self._body(side, chain, loop, accesses)
            elif isinstance(node, Synchronisation):
                self._body(node.body, chain, loop, accesses)

    def form(self, expr: Expr | None) -> Form | None:
        """The expression with its sizes put in; None where a name has no value."""
        if expr is None:
            return None
        constant = 0.0
        slopes: dict[str, float] = {}
        for monomial, number in expr.terms.items():
            value, moving = float(number), None
            for factor, power in monomial:
                if isinstance(factor, str) and factor not in self.variables:
                    known = self.values.get(factor)
                    if known is None:
                        return None
                    value *= float(known) ** power
                elif isinstance(factor, str) and power == 1 and moving is None:
                    moving = factor
                else:
                    return self._curved(expr)
            if moving is None:
                constant += value
            else:
                slopes[moving] = slopes.get(moving, 0.0) + value
        return Affine(constant, {name: slope for name, slope in slopes.items() if slope})

    def _curved(self, expr: Expr) -> Form | None:
        moving = expr.names & self.variables
        trial = {**self.values, **dict.fromkeys(moving, 1)}
        value = expr.evaluate(trial)
        if value is None:
            return None
        return Curved(expr, self.values, moving) if moving else Affine(float(value), {})

    def _grouped(self, accesses: list[Access], chain: tuple[NumericLoop, ...]) -> list[Group]:
        found: dict[tuple[object, ...], list[tuple[float, Access, Affine | None]]] = {}
        for access in accesses:
            array = self.arrays.get(access.array)
            if array is None:
                continue
            address = self._address(access, array, chain)
            if address is None:
                key: tuple[object, ...] = (access.array, None, access.text)
                offset = 0.0
            else:
                key = (access.array, *sorted(address.slopes.items()))
                offset = address.constant
            found.setdefault(key, []).append((offset, access, address))
        return [self._group(members, chain) for members in found.values()]

    def _group(
        self, members: list[tuple[float, Access, Affine | None]], chain: tuple[NumericLoop, ...]
    ) -> Group:
        _, access, address = members[0]
        return Group(
            access.array,
            max(1, access.bytes),
            address.slopes if address is not None else {},
            tuple(sorted({offset for offset, _, _ in members})),
            tuple(sorted({offset for offset, one, _ in members if one.kind == "write"})),
            chain,
            address is None,
            self._extent(self.arrays[access.array], chain) if address is None else 0.0,
            private=False,
            accesses=tuple(one for _, one, _ in members),
        )

    def _address(
        self, access: Access, array: Array, chain: tuple[NumericLoop, ...]
    ) -> Affine | None:
        """Byte address relative to the array's begin; None where it is no affine function.

        Rows that a table picks (`a[row[i]][j]`, the loop over j inside) are taken in its order.
        """
        subscripts = [unclamped(subscript) for subscript in access.subscripts]
        found = self._affine(subscripts, array, chain)
        if found is not None or not chain:
            return found
        picked: set[str] = set()
        subscripts = [in_order(one, chain[-1].variable, picked) for one in subscripts]
        picked &= self.variables
        found = self._affine(subscripts, array, chain) if picked else None
        if found is None:
            return None
        widest = max((abs(s) for name, s in found.slopes.items() if name not in picked), default=0)
        apart = all(abs(found.slopes.get(name, 0.0)) > widest for name in picked)
        return found if apart and widest else None

    def _affine(
        self, subscripts: Sequence[Expr], array: Array, chain: tuple[NumericLoop, ...]
    ) -> Affine | None:
        forms = [self.form(subscript) for subscript in subscripts]
        stride = float(array.element_bytes)
        constant = 0.0
        slopes: dict[str, float] = {}
        for position in range(len(forms) - 1, -1, -1):
            form = forms[position]
            if not isinstance(form, Affine):
                return None
            constant += form.constant * stride
            for name, slope in form.slopes.items():
                slopes[name] = slopes.get(name, 0.0) + slope * stride
            stride *= self._length(array, position, form, chain)
        for name, (outer, trips) in self.shifted.items():
            if name in slopes and outer not in slopes:
                slopes[outer] = slopes[name] * trips
        return Affine(constant, {name: slope for name, slope in slopes.items() if slope})

    def _length(
        self, array: Array, position: int, form: Affine, chain: tuple[NumericLoop, ...]
    ) -> float:
        """Elements along one dimension; where not declared, as far as the reference reaches."""
        if position == 0:
            return 1.0
        extent = array.dims[position] if position < len(array.dims) else None
        known = self.form(extent)
        if isinstance(known, Affine) and not known.slopes and known.constant > 0:
            return known.constant
        reach = 2.0
        for loop in chain:
            if loop.variable in form.slopes and loop.limit is not None:
                reach += abs(form.slopes[loop.variable]) * max(1.0, loop.limit.at({}))
        return reach

    def _extent(self, array: Array, chain: tuple[NumericLoop, ...]) -> float:
        total = float(array.element_bytes)
        for extent in array.dims:
            known = self.form(extent)
            if not isinstance(known, Affine) or known.slopes:
                self.assumed.append(f"{array.name} of {UNKNOWN_EXTENT >> 20} Mi elements")
                return float(array.element_bytes) * UNKNOWN_EXTENT
            total *= max(1.0, known.constant)
        return total
