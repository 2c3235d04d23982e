"""Lowers the loops and references of one region to a loop nest with numeric bounds and strides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from regionpredict.analysis.given_sizes import extent_name, open_trips_name
from regionpredict.ir import Access, Array, Expr, Loop, Region, Statement
from regionpredict.ir.region import Branch, Node
from regionpredict.workload.constants import (
    BRANCH_SHARE,
    CALL_OPERATIONS,
    DEFAULT_ELEMENT,
    HALO,
    NUMBER_BYTES,
    UNEVEN_WORK,
    UNKNOWN_EXTENT,
    UNKNOWN_TRIPS,
    WORK_PLACES,
)
from regionpredict.workload.derived_number import Derived, as_number, evaluated
from regionpredict.workload.held_branches import Tests, TrueIterations, iterations_where_true
from regionpredict.workload.if_conversion import shares_of_sides, under_branches
from regionpredict.workload.irregular_addresses import bytes_between, invariant_loops
from regionpredict.workload.loop_begins import normalized_loops
from regionpredict.workload.loop_nest import (
    Affine,
    Curved,
    Form,
    GuardedWork,
    LoopHeader,
    LoopNest,
    NestLoop,
    ReferenceGroup,
    address_shift,
    in_source_order,
    innermost_iterations,
    with_contents,
)
from regionpredict.workload.subscripts import subscripts_of
from regionpredict.workload.value_ranges import Interval, interval_of


def loop_nest(region: Region, values: Mapping[str, int | Fraction]) -> LoopNest | None:
    """Returns the region's nest for the `values` of its names. None if the region has no readable
    loop.
    """
    if region.nest is None:
        return None
    return _Lowering(region, values).nest(region.nest)


def _is_uneven(root: NestLoop) -> bool:
    """Whether iterations of the parallel loop differ in work, so that threads do not run in
    lockstep.
    """
    trips, begin = root.trips({}), root.begin({})
    weights = [
        innermost_iterations(
            root.children, {root.variable: begin + root.step * place * max(0.0, trips - 1)}
        )
        + 1
        for place in WORK_PLACES
    ]
    return max(weights) > UNEVEN_WORK.value * min(weights)


def _drifting_variables(group: ReferenceGroup, parallel_names: frozenset[str]) -> frozenset[str]:
    """Returns the variables of inner loops that move the group's address, and whose range differs
    between threads.
    """
    if (
        group.private
        or group.irregular
        or any(address_shift(group, name) for name in parallel_names)
    ):
        return frozenset()
    reached = set(parallel_names)
    drifting = set()
    for loop in group.loops:
        if loop.depends & reached:
            reached.add(loop.variable)
            if group.slopes.get(loop.variable):
                drifting.add(loop.variable)
    return frozenset(drifting)


def _with_drifts(loop: NestLoop, shared: frozenset[str]) -> NestLoop:
    """Returns the loop with the field `drifts` of all its reference groups set."""
    groups = tuple(
        replace(group, drifts=_drifting_variables(group, shared)) for group in loop.groups
    )
    return with_contents(
        loop, tuple(_with_drifts(child, shared) for child in loop.children), groups,
        loop.statements,
    )  # fmt: skip


def _plus_offset(address: Affine | None, offset: int) -> Affine | None:
    return None if address is None else Affine(address.constant + offset, address.slopes)


def _middle_trips(chain: Sequence[LoopHeader]) -> float:
    """Returns the trip count of the innermost loop of a chain, with each outer variable in the
    middle of its range.
    """
    env: dict[str, float] = {}
    for header in chain[:-1]:
        env[header.variable] = header.middle_value(env)
    return chain[-1].trips(env)


class _LoopContents(NamedTuple):
    """The references, loops and statements directly in the body of a loop."""

    accesses: list[tuple[int, Access]]
    children: list[NestLoop]
    statements: list[tuple[int, float]]
    guarded: list[tuple[TrueIterations, Statement]]


class _GroupMember(NamedTuple):
    """One reference of a group, with its number in the region, its offset, and its affine
    address.
    """

    number: int
    offset: float
    access: Access
    address: Affine | None


def _work_of(statement: Statement) -> float:
    """Returns the approximate number of operations and accesses of a statement."""
    operations = sum(
        count * (CALL_OPERATIONS.value if operation.kind.startswith("call:") else 1.0)
        for operation, count in statement.operations
    )
    return operations + len(statement.accesses)


def _offsets_of(members: Sequence[_GroupMember]) -> tuple[float, ...]:
    """Returns the sorted offsets of a group's references.

    A data-dependent access to a whole struct gets the offsets of all numbers in the struct.
    """
    places = {member.offset for member in members}
    for member in members:
        if member.address is None and member.access.bytes > NUMBER_BYTES.value:
            last = member.access.bytes - int(DEFAULT_ELEMENT.value)
            within = (*range(0, last, int(NUMBER_BYTES.value)), last)
            places.update(member.offset + way for way in within)
    return tuple(sorted(places))


class _Lowering:
    """Lowers one region for given values of its names."""

    def __init__(self, region: Region, values: Mapping[str, int | Fraction]) -> None:
        self.values = values
        self.collapse = max(1, region.collapse)
        self.subscripts = subscripts_of(region, values)
        self.reassociates = region.reassociates
        self.variables = self.subscripts.variables
        self.arrays = {array.name: array for array in region.arrays}
        self.memories = region.memories()
        self._affine_forms: dict[Expr, Affine] = {}
        self._local_forms: dict[Expr, Form | None] = {}  # forms in the current loop
        self._grouping = False
        self.guesses: dict[str, str] = {}  # guesses, each with the line that reports it
        self.sources: list[Loop] = []  # the enclosing loops of the current node
        # For CSR rows `for i, for k = row[i]..row[i+1]`: k is assumed to start at `distance * i`.
        self.shifted: dict[str, tuple[str, float]] = {}
        # Ranges of the enclosing loops' variables, to evaluate conditions.
        self.intervals = {
            name: Interval(float(value), float(value)) for name, value in values.items()
        }
        self.loops = 0
        self.groups = 0
        self.statements = 0
        self.accesses = 0
        self.guarded: list[GuardedWork] = []

    def nest(self, source: Loop) -> LoopNest:
        """Returns the lowered nest."""
        root = normalized_loops(self._lower_loop(source, (), shared=True))
        parallel = frozenset(loop.variable for loop in self._parallel_loops(root))
        if _is_uneven(root):
            root = _with_drifts(root, parallel)
        return LoopNest(
            tuple(in_source_order(root)), self._parallel_loops(root),
            tuple(self.guesses.values()), tuple(self.guesses), tuple(self.guarded),
        )  # fmt: skip

    @staticmethod
    def _parallel_loops(root: NestLoop) -> tuple[NestLoop, ...]:
        shared = [root]
        while shared[-1].children and shared[-1].children[0].parallel:
            shared.append(shared[-1].children[0])
        return tuple(shared)

    def _lower_loop(
        self, source: Loop, enclosing: tuple[LoopHeader, ...], *, shared: bool, given: float = 1.0,
        true_iterations: TrueIterations | None = None,
    ) -> NestLoop:  # fmt: skip
        """Lowers a loop that runs in a `given` share of the outer iterations `true_iterations`, or
        of all.
        """
        step = source.step.evaluate(self.values) if source.step is not None else None
        size = int(step) if isinstance(step, int | Derived) and step else 1
        onward = size // abs(size)
        first = self.form(source.start)
        limit = self.form(source.bound)
        if source.comparison in ("<=", ">=") and isinstance(limit, Affine):
            limit = Affine(limit.constant + onward, limit.slopes)
        elif source.comparison in ("<=", ">=") and isinstance(limit, Curved):
            limit = Curved(limit.expr + onward, limit.values, limit.names)
        if first is None or limit is None or (isinstance(step, int | Derived) and step == 0):
            first = limit = None
            self._add_guess(
                open_trips_name(source),
                UNKNOWN_TRIPS.value,
                f"all calls of {source.variable}"
                if source.kind == "calls"
                else f"iterations of the loop over {source.variable}",
            )
            if enclosing and not self._has_constant_start(source):
                distance = UNKNOWN_TRIPS.value * abs(size)
                self.shifted[source.variable] = (enclosing[-1].variable, distance)
        depends = frozenset[str]()
        if first is not None and limit is not None:
            depends = first.names | limit.names
        direct = [node for node in source.body if isinstance(node, Statement)]
        header = LoopHeader(
            self.loops, source.variable, first, limit, size, shared, depends, source.span.line,
            counted=source.kind == "for" and not source.exits,
            conditional=under_branches(source, reassociates=self.reassociates),
            unordered=source.unordered,
            share=given * (1.0 if true_iterations is None else true_iterations.share),
            held=true_iterations, work=max(1.0, sum(map(_work_of, direct))),
        )  # fmt: skip
        self.loops += 1
        if (
            true_iterations is not None
            and true_iterations.single is not None
            and len(enclosing) == 1
        ):
            # Other parallel iterations do not run this loop, so they do not reuse its data.
            whole = header.trips({enclosing[0].variable: true_iterations.single}) * abs(size)
            self.shifted[source.variable] = (enclosing[0].variable, whole)
        self._store_interval(source, header)
        chain = (*enclosing, header)
        contents = _LoopContents([], [], [], [])
        self.sources.append(source)
        self._lower_body(source.body, chain, contents, 1.0 if given else 0.0)
        self.guarded += [
            GuardedWork(where, _work_of(statement), chain[1:])
            for where, statement in contents.guarded
        ]
        groups = tuple(self._reference_groups(contents.accesses, chain))
        self.sources.pop()
        self.shifted.pop(source.variable, None)
        return with_contents(header, tuple(contents.children), groups, tuple(contents.statements))

    def _store_interval(self, source: Loop, header: LoopHeader) -> None:
        """Stores the range of a loop variable in `intervals`, if its bounds are known."""
        self.intervals.pop(source.variable, None)
        if source.start is None or source.bound is None or header.limit is None:
            return
        first, bound = (
            interval_of(source.start, self.intervals),
            interval_of(source.bound, self.intervals),
        )
        if first is None or bound is None:
            return
        last = 0.0 if source.comparison in ("<=", ">=") else 1.0
        up = header.step > 0
        low, high = (first.low, bound.high - last) if up else (bound.low + last, first.high)
        self.intervals[source.variable] = Interval(low, max(low, high))

    @staticmethod
    def _has_constant_start(source: Loop) -> bool:
        return source.start is not None and source.start.constant is not None

    def _lower_body(
        self, nodes: tuple[Node, ...], chain: tuple[LoopHeader, ...], contents: _LoopContents,
        share: float, given: float = 1.0, true_iterations: TrueIterations | None = None,
    ) -> None:  # fmt: skip
        """Adds the nodes of a loop body, which run in a `share` of the iterations, to `contents`.

        `given` is the part of `share` that follows from given shares, without assumed ones.
        `true_iterations` are the parallel iterations in which the enclosing conditions hold, if
        these are known. Code that never runs accesses no data.
        """
        for node in nodes:
            if isinstance(node, Statement):
                if share:
                    contents.accesses.extend(enumerate(node.accesses, self.accesses))
                self.accesses += len(node.accesses)
                if true_iterations is not None and true_iterations.together and share:
                    contents.guarded.append((true_iterations, node))
                contents.statements.append((self.statements, share))
                self.statements += 1
            elif isinstance(node, Loop):
                shared = chain[-1].parallel and not contents.children and len(chain) < self.collapse
                runs = given if share else 0.0
                contents.children.append(
                    self._lower_loop(
                        node, chain, shared=shared, given=runs, true_iterations=true_iterations
                    )
                )
            elif isinstance(node, Branch):
                # Calls with several possible targets have more than two sides of equal share.
                guessed = node.share is None and not node.extreme
                even = min(BRANCH_SHARE.value, 1 / len(node.sides))
                sides = zip(
                    node.sides, shares_of_sides(node, even, _middle_trips(chain)), strict=True
                )
                for number, (side, assumed) in enumerate(sides):
                    known = 1.0 if guessed and assumed >= even else assumed
                    where, runs = true_iterations, assumed
                    if node.test is not None and guessed:
                        test = (node.test, number == 0)
                        tests = (
                            (*true_iterations.tests, test)
                            if true_iterations is not None
                            else (test,)
                        )
                        where = self._where_tests_hold(tests, chain) or true_iterations
                        if where is not None and where.tests[-1] == test:
                            runs = where.share / (
                                true_iterations.share if true_iterations is not None else 1.0
                            )
                    self._lower_body(
                        side, chain, contents, share * min(1.0, runs), given * known, where
                    )
            else:
                self._lower_body(node.body, chain, contents, share, given, true_iterations)

    def _where_tests_hold(
        self, tests: Tests, enclosing_headers: Sequence[LoopHeader]
    ) -> TrueIterations | None:
        """Returns the iterations of the parallel loop in which the tests hold. None if the tests do
        not depend on the loop's variable.
        """
        if not tests or enclosing_headers[0].first is None:
            return None
        root = enclosing_headers[0]
        known = self.values.keys() | {root.variable}
        own = tuple(pair for pair in tests if root.variable in pair[0].names <= known)
        if not own:
            return None
        return iterations_where_true(
            own, root.variable, root.begin({}), root.step, root.trips({}), self.values
        )  # fmt: skip

    def _add_guess(self, name: str, value: float, meaning: str) -> None:
        self.guesses[name] = f"{name} = {value:.0f} (no value given: {meaning})"

    def form(self, expr: Expr | None) -> Form | None:
        """Returns the expression as a function of loop variables, with values for all other names.
        None if a name has no value.
        """
        if expr is None:
            return None
        known = self._affine_forms.get(expr)
        if known is not None:
            return known
        if expr in self._local_forms:
            return self._local_forms[expr]
        form = self._lowered_form(expr)
        if isinstance(form, Affine):  # non-affine forms depend on the enclosing loops
            self._affine_forms[expr] = form
        elif self._grouping:
            self._local_forms[expr] = form
        return form

    def _lowered_form(self, expr: Expr) -> Form | None:
        constant = 0.0
        slopes: dict[str, float] = {}
        for monomial, number in expr.terms.items():
            value, moving = float(number), None
            for factor, power in monomial:
                if isinstance(factor, str) and factor not in self.variables:
                    known = self.values.get(factor)
                    if known is None:
                        return None
                    value *= as_number(known) ** power
                elif isinstance(factor, str) and power == 1 and moving is None:
                    moving = factor
                else:
                    return self._non_affine_form(expr)
            if moving is None:
                constant += value
            else:
                slopes[moving] = slopes.get(moving, 0.0) + value
        return Affine(constant, {name: slope for name, slope in slopes.items() if slope})

    def _non_affine_form(self, expr: Expr) -> Form | None:
        moving = expr.names & self.variables
        # An unsigned `i - 2` may have a value only in the middle of the loop, and not at 1.
        places = ({name: self._middle_value(name) for name in moving}, dict.fromkeys(moving, 1))
        values = (evaluated(expr, {**self.values, **place}) for place in places)
        value = next((value for value in values if value is not None), None)
        if value is None:
            return None
        return Curved(expr, self.values, moving) if moving else Affine(value, {})

    def _middle_value(self, name: str) -> int:
        """Returns the middle of the range of a loop variable, or 1 for an unknown range."""
        interval = self.intervals.get(name)
        return 1 if interval is None else round((interval.low + interval.high) / 2)

    def _reference_groups(
        self, accesses: list[tuple[int, Access]], chain: tuple[LoopHeader, ...]
    ) -> list[ReferenceGroup]:
        self._grouping = True
        by_address: dict[tuple[object, ...], list[_GroupMember]] = {}
        for number, access in accesses:
            if access.array not in self.arrays:
                continue
            memory = self.memories[access.array]
            address = self._byte_address(access, chain)
            if address is None:
                place, offset = self.subscripts.element(access)
                key: tuple[object, ...] = (memory, None, place)
            else:
                key = (memory, *sorted(address.slopes.items()))
                offset = address.constant
            # A number never crosses a line, but a struct may. Groups therefore differ by access
            # size, except for data-dependent structs, which include their members.
            distance = address is not None and access.bytes > NUMBER_BYTES.value
            key = (*key, access.bytes if distance else 0)
            by_address.setdefault(key, []).append(_GroupMember(number, offset, access, address))
        groups = [self._reference_group(members, chain) for members in by_address.values()]
        self._grouping = False
        self._local_forms.clear()
        return groups

    def _reference_group(
        self, members: list[_GroupMember], chain: tuple[LoopHeader, ...]
    ) -> ReferenceGroup:
        _, _, access, address = members[0]
        array = self.arrays[self.memories[access.array]]
        self.groups += 1
        own = tuple(member.access for member in members)
        exact = tuple(self._exact_address(access) for access in own)
        return ReferenceGroup(
            index=self.groups - 1,
            array=array.name,
            element=max(1, min(member.access.bytes for member in members)),
            slopes=address.slopes if address is not None else {},
            offsets=_offsets_of(members),
            written=_offsets_of([member for member in members if member.access.kind == "write"]),
            loops=chain,
            irregular=address is None,
            extent=self._range_of_irregular(own, exact, array, chain) if address is None else 0.0,
            private=array.storage == "private",
            accesses=own,
            order=tuple(member.number for member in members),
            places=tuple(member.offset for member in members),
            # Compilers align global arrays to a line (GCC, `ix86_data_alignment`). Pointer targets
            # may start at any offset.
            aligned=array.storage == "global" and bool(array.dims) and None not in array.dims,
            exact=exact,
            still=invariant_loops(own, chain) if address is None else frozenset(),
        )

    def _range_of_irregular(
        self, accesses: Sequence[Access], exact: Sequence[Form | None], array: Array,
        chain: tuple[LoopHeader, ...],
    ) -> float:  # fmt: skip
        """Returns the range of a group's irregular addresses in bytes."""
        between = bytes_between(exact, accesses, self.intervals)
        known = [self.form(extent) for extent in array.dims]
        declared = all(isinstance(extent, Affine) and not extent.slopes for extent in known)
        if between is not None and not declared:
            return between
        whole = self._array_bytes(array, chain)
        return whole if between is None else min(between, whole)

    def _exact_address(self, access: Access) -> Form | None:
        """Returns a non-affine byte address as a function of loop variables. None if the address is
        affine, if it depends on data, or if an array length is unknown.
        """
        if all(isinstance(self.form(subscript), Affine) for subscript in access.subscripts):
            return None
        address = self.subscripts.address(access)
        return None if address is None else self.form(address)

    def _byte_address(self, access: Access, chain: tuple[LoopHeader, ...]) -> Affine | None:
        """Returns the byte address relative to the start of the array. None if it is not affine.

        Rows that an index array selects, such as `a[row[i]][j]` in a loop over j, are assumed to be
        in order.
        """
        own, loops = self.subscripts, self.sources
        address = self._affine_address(access, own.plain(access, loops), chain)
        if address is not None or not chain:
            return _plus_offset(address, access.offset)
        address = self._affine_address(access, own.simplified_subscripts(access, loops), chain)
        if address is not None:
            return _plus_offset(address, access.offset)
        subscripts, picked = own.rows_in_order(access, loops)
        address = self._affine_address(access, subscripts, chain) if picked else None
        if address is None:
            return None
        widest = max(
            (abs(s) for name, s in address.slopes.items() if name not in picked), default=0
        )
        separate = all(abs(address.slopes.get(name, 0.0)) > widest for name in picked)
        return _plus_offset(address, access.offset) if separate and widest else None

    def _affine_address(
        self, access: Access, subscripts: Sequence[Expr], chain: tuple[LoopHeader, ...]
    ) -> Affine | None:
        forms = [self.form(subscript) for subscript in subscripts]
        constant = 0.0
        slopes: dict[str, float] = {}
        for nested, first, end in self.subscripts.nested(access):
            stride = float(nested.element_bytes)
            for position in range(end - 1, first - 1, -1):
                form = forms[position]
                if not isinstance(form, Affine):
                    return None
                constant += form.constant * stride
                for name, slope in form.slopes.items():
                    slopes[name] = slopes.get(name, 0.0) + slope * stride
                if position > first:
                    stride *= self._dimension_length(nested, position, form, chain)
        for name, (outer, distance) in self.shifted.items():
            if name in slopes and outer not in slopes:
                slopes[outer] = slopes[name] * distance
        return Affine(constant, {name: slope for name, slope in slopes.items() if slope})

    def _dimension_length(
        self, array: Array, position: int, form: Affine, chain: tuple[LoopHeader, ...]
    ) -> float:
        """Returns the number of elements in one dimension of an array. An undeclared dimension gets
        the range of the reference.
        """
        extent = array.dims[position] if position < len(array.dims) else None
        known = self.form(extent)
        if isinstance(known, Affine) and not known.slopes and known.constant > 0:
            return known.constant
        reach = HALO.value
        for loop in chain:
            if loop.variable in form.slopes and loop.limit is not None:
                reach += abs(form.slopes[loop.variable]) * max(1.0, loop.limit.at({}))
        return reach

    def _array_bytes(self, array: Array, chain: tuple[LoopHeader, ...]) -> float:
        """Returns the size of an array in bytes. An array of unknown length is assumed to have one
        element per parallel iteration.
        """
        total = float(array.element_bytes)
        for extent in array.dims:
            known = self.form(extent)
            if not isinstance(known, Affine) or known.slopes:
                name = extent_name(array)
                given = self.values.get(name)
                if given is not None:
                    return float(array.element_bytes) * max(1.0, float(given))
                length = UNKNOWN_EXTENT.value
                if chain and chain[0].limit is not None:
                    length = math.prod(loop.trips({}) for loop in chain if loop.parallel)
                self._add_guess(name, max(1.0, length), f"elements of {array.name}")
                return float(array.element_bytes) * max(1.0, length)
            total *= max(1.0, known.constant)
        return total
