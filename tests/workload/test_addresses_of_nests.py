"""Addresses of random nests, reference by reference, against the C text carried out in Python.

Loops that begin where those around them say, blocks cut at an end, remainders, quotients and least
values in bounds and subscripts, rows and members of structs: whatever a nest makes of them, the
references are those of the program, in its order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest
from further_cases import further_slow
from nest_texts import facts_of_text, nest_of

from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.reference_trace import reference_trace

DECLARED = """struct point { int tag; double x; double v[5]; };
double a[99999], m[99][640], s;
struct point q[4000];
"""
POINT, TAG, X, V = 56, 0, 8, 16  # bytes: the struct, and where its members begin
Values = Mapping[str, int]
Number = Callable[[Values], int]
Reference = tuple[str, int, bool]
"""(array, byte, whether it is written)."""


@dataclass(frozen=True)
class Text:
    """An expression as it stands in C, and its value."""

    c: str
    at: Number


@dataclass(frozen=True)
class For:
    """A loop over a variable, with what is in it."""

    name: str
    head: str
    values: Callable[[Values], range]
    body: tuple[For | Refer, ...]


@dataclass(frozen=True)
class Refer:
    """A statement, and the references that it makes."""

    c: str
    made: Callable[[Values], list[Reference]]


class Programs:
    """Random nests of a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def line(self, names: str, least: int) -> Text:
        """A straight line over some of the variables; `least`: its constant."""
        slopes = {name: self.chance.choice([0, 1, 1, 2, 5]) for name in names}
        constant = least + self.chance.randint(0, 9)
        terms = [f"{slope} * {name}" for name, slope in slopes.items() if slope]
        return Text(
            " + ".join([*terms, str(constant)]),
            lambda at: constant + sum(slope * at[name] for name, slope in slopes.items()),
        )

    def subscript(self, names: str, most: int) -> Text:
        """Less than `most`: a line, its remainder, its quotient, or a number if that is less."""
        line, number = self.line(names, 0), self.chance.randint(2, 9)
        match self.chance.randrange(7):
            case 0:
                return Text(f"({line.c}) % {number}", lambda at: line.at(at) % number)
            case 1:
                return Text(f"({line.c}) / {number}", lambda at: line.at(at) // number)
            case 2:
                c = f"({line.c} < {number} ? {line.c} : {number})"
                return Text(c, lambda at: min(line.at(at), number))
            case 3:
                return Text(f"{most - 1} - ({line.c})", lambda at: most - 1 - line.at(at))
        return line

    def loop(self, names: str) -> For:
        name = "ijk"[len(names)]
        begin = self.line(names, 0) if names and self.chance.random() < 0.6 else self.line("", 0)
        step, number = self.chance.choice([1, 1, 1, 2, 3, -1, -2]), self.chance.randint(1, 4)
        length = number * abs(step) - self.chance.randrange(abs(step))
        down = step < 0
        if down:  # from the end of a block to its begin
            first = Text(f"{begin.c} + {length}", lambda at: begin.at(at) + length)
            closed = self.chance.random() < 0.5
            last = Text(begin.c, begin.at)
            head = (
                f"{name} = {first.c}; {name} {'>=' if closed else '>'} {last.c}; {name} -= {-step}"
            )
            end: Number = lambda at: last.at(at) - closed  # noqa: E731
        else:
            first, limit = begin, self.limit(begin, names, length)
            closed = self.chance.random() < 0.4
            sign = "<=" if closed else "<"
            head = f"{name} = {first.c}; {name} {sign} {limit.c}; {name} += {step}"
            end = lambda at: limit.at(at) + closed  # noqa: E731
        body: list[For | Refer] = [self.reference(names + name)]
        if len(names) < 2 and self.chance.random() < 0.85:
            body.append(self.loop(names + name))
            if self.chance.random() < 0.4:
                body.append(self.reference(names + name))
            if self.chance.random() < 0.3:
                body.append(self.loop(names + name))
        return For(name, head, lambda at: range(first.at(at), end(at), step), tuple(body))

    def limit(self, begin: Text, names: str, length: int) -> Text:
        number = self.chance.randint(3, 12)
        match self.chance.randrange(5):
            case 0:
                return Text(str(number), lambda at: number)
            case 1:
                c = f"({begin.c} + {length} < {number} ? {begin.c} + {length} : {number})"
                return Text(c, lambda at: min(begin.at(at) + length, number))
            case 2 if names:
                return self.line(names, 3)
        return Text(f"{begin.c} + {length}", lambda at: begin.at(at) + length)

    def reference(self, names: str) -> Refer:
        array, c, at = self.place(names)
        if self.chance.random() < 0.5:
            return Refer(f"s += {c};", lambda values: [(array, at(values), False)])
        if self.chance.random() < 0.5:
            return Refer(f"{c} = 1;", lambda values: [(array, at(values), True)])
        return Refer(
            f"{c} += 1;", lambda values: [(array, at(values), False), (array, at(values), True)]
        )

    def place(self, names: str) -> tuple[str, str, Number]:
        """(array, an element of it in C, its first byte)."""
        row, column = self.subscript(names, 99), self.subscript(names, 640)
        match self.chance.randrange(5):
            case 0:
                return (
                    "m",
                    f"m[{row.c}][{column.c}]",
                    lambda at: 8 * (640 * row.at(at) + column.at(at)),
                )
            case 1:
                member, byte = self.chance.choice([("tag", TAG), ("x", X)])
                return "q", f"q[{column.c}].{member}", lambda at: POINT * column.at(at) + byte
            case 2:
                inner = self.line("", 0)
                c = f"q[{row.c}].v[({inner.c}) % 5]"
                return "q", c, lambda at: POINT * row.at(at) + V + 8 * (inner.at(at) % 5)
        far = self.subscript(names, 9999)
        return "a", f"a[{far.c}]", lambda at: 8 * far.at(at)


def text_of(loop: For) -> str:
    body = " ".join(part.c if isinstance(part, Refer) else text_of(part) for part in loop.body)
    return f"for (int {loop.head}) {{ {body} }}"


def carried_out(loop: For, at: Values) -> Iterator[tuple[int, Reference]]:
    """The references of a loop, with the number of its iteration."""
    for number, value in enumerate(loop.values(at)):
        inside = {**at, loop.name: value}
        for part in loop.body:
            made = (
                part.made(inside) if isinstance(part, Refer)
                else [reference for _, reference in carried_out(part, inside)]
            )  # fmt: skip
            for reference in made:
                yield number, reference


@pytest.mark.parametrize("seed", further_slow(1, range(3)))
def test_references_are_those_of_the_program(seed: int) -> None:
    programs = Programs(seed)
    loops = [programs.loop("") for _ in range(60)]
    text = DECLARED + "".join(
        f"void f{at}(void) {{\n#pragma omp parallel for\n{text_of(loop)}\n}}\n"
        for at, loop in enumerate(loops)
    )
    for loop, facts in zip(loops, facts_of_text(text), strict=True):
        nest = loop_nest(facts.region, facts.bindings.values)
        assert nest is not None
        expected = list(carried_out(loop, {}))
        trace = reference_trace(nest)
        if trace is None:
            assert not expected, text_of(loop)
            continue
        assert [
            (iteration, (trace.arrays[array].partition(".")[0], byte, written))
            for iteration, array, byte, written in zip(
                trace.iteration.tolist(), trace.array.tolist(), trace.byte.tolist(),
                trace.written.tolist(), strict=True,
            )
        ] == expected, text_of(loop)  # fmt: skip
        assert trace.iterations == len(loop.values({}))


def test_addresses_of_which_a_part_is_affine() -> None:
    """Two hundred i times a hundred j, of which the remainder takes a hundred values to work out:
    not one for each of 20,000 iterations.
    """
    loops = "for (int i = 0; i < 200; i++) for (int j = 0; j < 100; j++) a[i][(3 * j) % 40] = 1;"
    trace = reference_trace(nest_of(loops, "double a[200][40]"))
    assert trace is not None
    assert trace.byte.tolist() == [
        8 * (40 * i + 3 * j % 40) for i in range(200) for j in range(100)
    ]
