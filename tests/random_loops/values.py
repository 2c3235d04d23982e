"""Random sizes and values: how a bound comes to its number, and what a statement computes."""

from __future__ import annotations

import random
from collections.abc import Callable

from written import C, Lines, binary, call, cast, chosen, negative, read, same

# What every program may use; `twin.c` knows them all by name.
_GLOBALS = """\
#include <math.h>
#define SIZE 11
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
enum { FOUR = 4, NINE = 9, TWO = 2 };
struct point { double v[3]; int k; double m; };
struct grid { int n, m; long total; };
ARRAYS_COME_HERE
static const int fixed = 13;
static const double weight = 0.5;
int changeable = 9;
static int half(int n) { return n / 2; }
static int below(int n, int most) { return n < most ? n : most; }
static void put_number(int *p, int value) { *p = value; }
static void put_element(double *row, int at, double value) {
  row[at] = value;
}
static double sum_of_two(double a, double b) {
  return a + b;
}
"""
_TYPES = {"s": "float", "v": "int", "idx": "int", "w": "long", "cells": "struct point"}
_SMALL = {
    "A": (90, 90), "B": (90, 90), "T": (40, 40, 40), "x": (2500,), "y": (2500,), "s": (2500,),
    "v": (2500,), "w": (2500,), "idx": (2500,), "cells": (120,),
}  # fmt: skip
_LARGE = {
    "A": (300, 300), "B": (300, 300), "T": (90, 90, 90), "x": (40000,), "y": (40000,),
    "s": (40000,), "v": (40000,), "w": (40000,), "idx": (40000,), "cells": (900,),
}  # fmt: skip
ELEMENT_BYTES = {"s": 4, "v": 4, "idx": 4, "cells": 40}  # all others 8


def shapes(*, large: bool) -> dict[str, tuple[int, ...]]:
    """The extents of every array."""
    return _LARGE if large else _SMALL


def globals_text(*, large: bool) -> str:
    """What stands before all programs."""
    arrays = "\n".join(
        f"{_TYPES.get(name, 'double')} {name}{''.join(f'[{n}]' for n in shape)};"
        for name, shape in shapes(large=large).items()
    )
    return _GLOBALS.replace("ARRAYS_COME_HERE", arrays)


def element(array: str, *subscripts: str, member: str = "", large: bool) -> C:
    """An element; the twin gives up where a subscript leaves its array."""
    extents = shapes(large=large)[array]
    plain = "".join(f"[{one}]" for one in subscripts)
    twin = "".join(f"[IN({one}, {n})]" for one, n in zip(subscripts, extents, strict=True))
    return C(f"{array}{plain}{member}", f"{array}{twin}{member}")


class Sizes:
    """Gives names and expressions with a number as value, and the lines that make them so."""

    def __init__(self, choose: random.Random, lines: Lines, *, large: bool) -> None:
        self.choose = choose
        self.lines = lines
        self.large = large
        self.count = 0
        self.parameters: list[tuple[str, int]] = []
        self.tags: set[str] = set()

    def fresh(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    def number(self, value: int) -> str:
        """An expression with this value, more or less plain; what it needs is said before."""
        if self.choose.random() < (0.7 if self.large else 0.35):
            return str(value)
        form = self.choose.choice(_FORMS)
        self.tags.add(form.__name__.strip("_"))
        return form(self, value)

    def name_of(self, value: int) -> str:
        """A variable that holds the value."""
        name = self.fresh("n")
        self.lines.add(f"int {name} = {value};")
        return name


def _plain(own: Sizes, value: int) -> str:
    return own.name_of(value)


def _constant(own: Sizes, value: int) -> str:
    name = own.fresh("n")
    kind = own.choose.choice(["const int", "long", "const long", "short", "unsigned char"])
    own.lines.add(f"{kind} {name} = {value if value >= 0 else f'({value})'};")
    return name if value >= 0 or "unsigned" not in kind else str(value)


def _parameter(own: Sizes, value: int) -> str:
    name = own.fresh("n")
    own.parameters.append((name, value))
    return name


def _shipped(own: Sizes, value: int) -> str:
    """A macro, an enumerator, a constant of the file, the length of an array."""
    base, number = own.choose.choice(
        [("SIZE", 11), ("FOUR", 4), ("NINE", 9), ("fixed", 13),
         ("(int)(sizeof(cells) / sizeof(cells[0]))", 900 if own.large else 120),
         ("(int)sizeof(double)", 8)]
    )  # fmt: skip
    return _shifted(base, value - number)


def _shifted(base: str, by: int) -> str:
    return base if not by else f"({base} {'+' if by > 0 else '-'} {abs(by)})"


def _divided(own: Sizes, value: int) -> str:
    """A quotient that need not be exact, of a numerator of either sign."""
    by = own.choose.randint(2, 5)
    top = own.name_of(own.choose.randint(-40, 60))
    number = int(own.lines.lines[-1].plain.split("=")[1].strip(" ;"))
    quotient = int(number / by)
    return _shifted(f"({top} / {by})", value - quotient)


def _remainder(own: Sizes, value: int) -> str:
    by = own.choose.randint(2, 7)
    number = own.choose.randint(-30, 30)
    top = own.name_of(number)
    rest = number - int(number / by) * by
    return _shifted(f"({top} % {by})", value - rest)


def _shift(own: Sizes, value: int) -> str:
    name = own.name_of(value * 4 + own.choose.randint(0, 3)) if value >= 0 else own.name_of(value)
    return f"({name} >> 2)" if value >= 0 else name


def _masked(own: Sizes, value: int) -> str:
    if not 0 <= value < 64:
        return own.name_of(value)
    name = own.name_of(value + 64 * own.choose.randint(0, 4))
    return f"({name} & 63)"


def _narrow(own: Sizes, value: int) -> str:
    """What a narrow type leaves of a number."""
    if value < 0:
        return own.name_of(value)
    name = own.fresh("c")
    kind, size = own.choose.choice([("unsigned char", 256), ("unsigned short", 65536)])
    if own.choose.random() < 0.5:
        own.lines.add(f"{kind} {name} = {value + size};")
        return name
    big = own.name_of(value + size)
    return f"({kind}){big}"


def _floating(own: Sizes, value: int) -> str:
    if value < 0:
        return own.name_of(value)
    return own.choose.choice([f"(int){value}.75", f"(int)({2 * value + 1} * 0.5)"])


def _member(own: Sizes, value: int) -> str:
    name = own.fresh("g")
    form = own.choose.randrange(3)
    if form == 0:
        own.lines.add(f"struct grid {name} = {{{value}, 3, 7}};")
        return f"{name}.n"
    own.lines.add(f"struct grid {name};")
    own.lines.add(f"{name}.n = {value};")
    if form == 1:
        return f"{name}.n"
    own.lines.add(f"struct grid *p{name} = &{name};")
    return f"p{name}->n"


def _through_pointer(own: Sizes, value: int) -> str:
    name = own.name_of(own.choose.randint(3, 12))
    if own.choose.random() < 0.5:
        own.lines.add(f"int *p{name} = &{name};")
        own.lines.add(f"*p{name} = {value};")
    else:
        own.lines.add(f"put_number(&{name}, {value});")
    return name


def _changed(own: Sizes, value: int) -> str:
    by = own.choose.randint(1, 5)
    name = own.name_of(value - by)
    own.lines.add(own.choose.choice([f"{name} += {by};", f"{name} = {name} + {by};"]))
    return name


def _perhaps_changed(own: Sizes, value: int) -> str:
    name = own.name_of(value)
    own.lines.add(f"if (changeable > {own.choose.choice([5, 20])}) {name} = {max(1, value - 2)};")
    return name


def _least(own: Sizes, value: int) -> str:
    other = own.name_of(value + own.choose.randint(0, 6))
    return own.choose.choice(
        [f"MIN({other}, {value})", f"({other} < {value} ? {other} : {value})",
         f"below({other}, {value})", f"({value} > {other} ? {other} : {value})"]
    )  # fmt: skip


def _most(own: Sizes, value: int) -> str:
    other = own.name_of(value - own.choose.randint(0, 6))
    return own.choose.choice(
        [f"MAX({other}, {value})", f"({other} > {value} ? {other} : {value})",
         f"({other} < {value} ? {value} : {other})"]
    )  # fmt: skip


def _select(own: Sizes, value: int) -> str:
    other = own.name_of(own.choose.randint(-3, 8))
    number = int(own.lines.lines[-1].plain.split("=")[1].strip(" ;"))
    wrong = value + own.choose.randint(1, 4)
    test, holds = own.choose.choice(
        [(f"{other} > 2", number > 2), (f"{other} != 4", number != 4), (f"{other} == 3",
         number == 3), (f"{other} % 2 == 0", number % 2 == 0), (f"!{other}", not number)]
    )  # fmt: skip
    return f"({test} ? {value} : {wrong})" if holds else f"({test} ? {wrong} : {value})"


def _function(own: Sizes, value: int) -> str:
    name = own.name_of(2 * value + (1 if value >= 0 else -1))
    return f"half({name})"


def _sum(own: Sizes, value: int) -> str:
    part = own.choose.randint(-4, 9)
    name = own.name_of(part)
    rest = value - part
    return f"({name} + {rest})" if rest >= 0 else f"({name} - {-rest})"


_FORMS: tuple[Callable[[Sizes, int], str], ...] = (
    _plain, _plain, _plain, _constant, _parameter, _parameter, _shipped, _divided, _remainder,
    _shift, _masked, _narrow, _floating, _member, _through_pointer, _changed, _perhaps_changed,
    _least, _most, _select, _function, _sum,
)  # fmt: skip


class Values:
    """Random right-hand sides: elements and variables in arithmetic of all types."""

    def __init__(self, choose: random.Random, places: Callable[[], C], *, large: bool) -> None:
        self.choose = choose
        self.places = places
        self.large = large

    def value(self, depth: int = 2) -> C:
        """A number of any type; never a remainder of a floating one, nor a division by zero."""
        choose = self.choose
        if depth == 0 or choose.random() < 0.2:
            return self._leaf()
        form = choose.randrange(14)
        if form < 7:
            return binary(self.value(depth - 1), choose.choice("++--**"), self.value(depth - 1))
        if form == 7:
            return binary(self.value(depth - 1), "/", same(choose.choice(["3.0", "2.5f", "7"])))
        if form == 8:
            return call("sqrt", "SQRT", call("fabs", "NEG", self.value(depth - 1)))
        if form == 9:
            return call(choose.choice(["fmin", "fmax"]), "COMPARE", self.value(depth - 1),
                        self._leaf())  # fmt: skip
        if form == 10:
            test = binary(self._leaf(), choose.choice(["<", ">", "<=", "!="]), self._leaf())
            return chosen(test, self.value(depth - 1), self.value(depth - 1))
        if form == 11:
            return cast(choose.choice(["float", "double", "int", "long"]), self._leaf())
        if form == 12:
            return negative(self.places())
        return self.whole_number()

    def whole_number(self) -> C:
        """Arithmetic of integers of several widths."""
        choose = self.choose
        left = choose.choice([self._counter(), read(self._place("v")), read(self._place("w"))])
        op = choose.choice(["%", "/", "&", "|", "^", "<<", ">>", "+", "*"])
        if op in ("%", "/"):
            right = same(choose.choice(["3", "7", "5L"]))
        elif op in ("<<", ">>"):
            left = binary(left, "&", same("255"))
            right = same(choose.choice(["1", "3L"]))
        else:
            right = choose.choice([same("3"), self._counter(), read(self._place("v"))])
        return binary(left, op, right)

    def _counter(self) -> C:
        return same(self.choose.choice(self.counters) if self.counters else "2")

    counters: tuple[str, ...] = ()

    def _place(self, array: str) -> C:
        counter = self.choose.choice(self.counters) if self.counters else "0"
        return element(array, f"{counter} + 30", large=self.large)

    def _leaf(self) -> C:
        kind = self.choose.randrange(8)
        if kind < 5:
            return self.places()
        if kind == 5:
            return same(self.choose.choice(["1.5", "2.0f", "3", "weight", "4L", "0.25"]))
        return self._counter()
