"""Random worksharing loops in C, each with the twin that counts what it does.

`program(seed)` is a function of its own; the same seed gives the same text. What a program has is
drawn, not what it computes: the twin, compiled and run, is the truth.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from inner_loops import COMMON, INNER
from values import Sizes, Values, element, shapes
from written import LINE, C, Lines, assign, binary, read, same, set_scalar, update


@dataclass(frozen=True)
class RandomProgram:
    """`lines` with the parallel loop; `kinds` are the forms that it is made of.

    `alike`: its references are the same for every value in memory, so that the traffic of its
    caches can be foretold. `chunked`: the schedule deals chunks.
    """

    seed: int
    name: str
    lines: tuple[C, ...]
    statements: tuple[int, ...]
    kinds: frozenset[str]
    alike: bool
    parameters: tuple[tuple[str, int], ...]
    large: bool

    def text(self, first: int, *, twin: bool) -> str:
        """The function's text, its first line being number `first` of its file."""
        out = []
        for number, line in enumerate(self.lines):
            if not twin:
                out.append(line.plain)
                continue
            text = line.twin.replace(LINE, str(first + number))
            while "@" in text:  # REACHED(@12@): the statement at position 12
                before, place, after = text.split("@", 2)
                text = f"{before}{first + int(place)}{after}"
            out.append(text)
        return "\n".join(out) + "\n"


class Builder:
    """Writes one program."""

    def __init__(self, seed: int, *, large: bool) -> None:
        self.choose = random.Random(seed)
        self.large = large
        self.lines = Lines()
        self.sizes = Sizes(self.choose, self.lines, large=large)
        self.kinds: set[str] = set()
        self.counters: list[str] = []  # variables of open loops that subscripts may use
        self.values = Values(self.choose, self._readable, large=large)
        self.alike = True
        self.names = 0

    def scaled(self, number: int) -> int:
        """A length, for large programs several times as long."""
        return number * self.choose.choice([2, 4, 7, 12]) if self.large else number

    # -- places ---------------------------------------------------------------------------------

    def fresh(self, base: str) -> str:
        self.names += 1
        return f"{base}{self.names}"

    def affine(self, most: int = 2) -> str:
        """A subscript: a counter with a factor and a constant, at times two counters."""
        choose = self.choose
        if not self.counters or choose.random() < 0.07:
            return str(choose.randint(0, 8))
        name = choose.choice(self.counters[-most:] if choose.random() < 0.8 else self.counters)
        text = name if choose.random() < 0.8 else f"{choose.choice([2, 3])} * {name}"
        if len(self.counters) > 1 and choose.random() < 0.12:
            other = choose.choice([one for one in self.counters if one != name])
            text += f" {choose.choice(['+', '+', '+ 25 -'])} {other}"
        shift = choose.choice([0, 0, 0, 0, 1, 2, 5, 17])
        if choose.random() < 0.04:
            shift = -1
        if shift:
            text += f" {'+' if shift > 0 else '-'} {abs(shift)}"
        odd = 0.005 if self.large else 0.05
        if choose.random() < odd:
            self.kinds.add("clamped")
            text = choose.choice([f"MAX({text}, 0)", f"MIN({text}, 9)",
                                  f"({text} > 3 ? {text} : 3)"])  # fmt: skip
        elif choose.random() < odd:
            self.kinds.add("wrapped")
            text = f"({text} + {choose.randint(1, 9)}) % {choose.randint(5, 30)}"
        elif choose.random() < odd:
            self.kinds.add("halved")
            text = f"({text}) / 2"
        return text

    def place(self) -> C:
        """An element of an array of any type and shape."""
        choose = self.choose
        kind = choose.randrange(16)
        if kind < 4:
            return self.at(choose.choice("AB"), self.affine(), self.affine())
        if kind < 8:
            return self.at(choose.choice("xy"), self.affine())
        if kind == 8:
            row = choose.choice([9, 16, 20])
            return self.at("x", f"{row} * ({self.affine()}) + {self.affine()}")
        if kind == 9:
            return self.at("T", self.affine(), self.affine(), self.affine())
        if kind == 10:
            self.kinds.add("members")
            if choose.random() < 0.3:
                inner = f"({self.affine()}) % 3"
                cell = self.at("cells", self.affine())
                return C(f"{cell.plain}.v[{inner}]", f"{cell.twin}.v[IN({inner}, 3)]")
            return self.at("cells", self.affine(), member=choose.choice([".k", ".m", ".v[2]"]))
        if kind == 11:
            return self.at(choose.choice("svw"), self.affine())
        if kind == 12:
            self.kinds.add("by pointer")
            subscript = self.affine()
            extent = shapes(large=self.large)["y"][0]
            return C(f"*(y + {subscript})", f"*(y + IN({subscript}, {extent}))")
        return self.at(choose.choice(["x", "y", "s"]), f"{self.affine()} + {choose.randint(0, 40)}")

    def at(self, array: str, *subscripts: str, member: str = "") -> C:
        """An element of one of the arrays."""
        return element(array, *subscripts, member=member, large=self.large)

    def _readable(self) -> C:
        if self.choose.random() < (0.005 if self.large else 0.04):
            self.kinds.add("indirect")
            self.alike = False
            inner = read(self.at("idx", self.affine()))
            return read(C(f"x[{inner.plain}]", f"x[{inner.twin}]"), whole=True)
        return read(self.place())

    # -- statements -----------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        """An assignment, a variable of its own, a condition with assignments behind it, ..."""
        choose, add = self.choose, self.lines.statement
        kind = choose.randrange(24)
        value = self.values.value(choose.choice([0, 1, 1, 2, 2, 3]))
        if kind < 11:
            add(assign(self.place(), value))
        elif kind < 15:
            add(update(self.place(), choose.choice("++-*"), value))
        elif kind == 15:
            name = self.fresh("t")
            add(value, begin=f"double {name} = ")
            add(assign(self.place(), binary(same(name), "*", value)))
        elif kind == 16:
            name = self.fresh("k")
            self.lines.add(f"int {name} = {self.affine()};")
            self.lines.lines[-1] = self._counted_declaration(name)
            self.counters.append(name)
            add(assign(self.place(), value))
            self.counters.remove(name)
        elif kind == 17:
            self._condition(value)
        elif kind == 18:
            self.kinds.add("do once")
            self.lines.open("do")
            add(assign(self.place(), value))
            self.lines.close("} while (0);")
        elif kind == 19:
            self._call(value)
        elif kind == 20:
            self._own_array(value)
        elif kind == 21:
            add(assign(self.place(), self.values.whole_number()))
        elif kind == 22:
            name = self.fresh("u")
            self.lines.add(f"{choose.choice(['float', 'long', 'short', 'double'])} {name} = 0;")
            self.lines.statements.append(len(self.lines.lines) - 1)
            last = self.lines.lines[-1]
            twin = last.twin.replace("= 0;", f"= (RUN({LINE}), 0);")
            self.lines.lines[-1] = self._placed(last._replace(twin=twin))
            add(set_scalar(name, choose.choice("+-*"), value))
            add(assign(self.place(), same(name)))
        else:
            add(assign(self.at("A", "3", "4"), value))

    def _placed(self, line: C) -> C:
        """A line whose count stands before a condition, where there is one around it."""
        if not self.lines.within:
            return line
        place = len(self.lines.lines) - 1
        for hidden in self.lines.within[-1]:
            before = self.lines.lines[hidden]
            self.lines.lines[hidden] = before._replace(twin=before.twin + f"REACHED(@{place}@);")
        return line._replace(twin=line.twin.replace("RUN(", "PASSED("))

    def _counted_declaration(self, name: str) -> C:
        """`int k = 2 * j + 1;` again, the operators counted."""
        choose = self.choose
        counter = choose.choice(self.counters) if self.counters else "3"
        value = binary(binary(same(str(choose.randint(1, 3))), "*", same(counter)), "+",
                       same(str(choose.randint(0, 4))))  # fmt: skip
        self.lines.statements.append(len(self.lines.lines) - 1)
        line = C(f"int {name} = {value.plain};", f"int {name} = (RUN({LINE}), {value.twin});")
        return self._placed(line)

    def _condition(self, value: C) -> None:
        """An `if` whose sides only compute: both count as if they ran."""
        self.kinds.add("if")
        lines = self.lines
        before = lines.hidden()
        counter = self.choose.choice(self.counters) if self.counters else "2"
        test = self.choose.choice(
            [binary(self._readable(), ">", same("0.5")),
             binary(binary(same(counter), "%", same("3")), "==", same("0"))]
        )  # fmt: skip
        lines.statement(test, begin="if (", end=") {")
        # The twin takes both sides.
        head = lines.lines[-1]
        lines.lines[-1] = head._replace(
            twin=head.twin.replace("if (", "(void)(", 1).replace(") {", "); {")
        )
        del before
        lines.depth += 1
        lines.statement(assign(self.place(), value))
        lines.depth -= 1
        if self.choose.random() < 0.4:
            lines.add("} else {", "} {")
            lines.depth += 1
            lines.statement(update(self.place(), "+", value))
            lines.depth -= 1
        lines.add("}")

    def _call(self, value: C) -> None:
        """A function of the file, its statements at their own lines."""
        self.kinds.add("call")
        if self.choose.random() < 0.5 or not self.counters:
            self.lines.statement(assign(self.place(), self._sum_of(value)))
            return
        name = self.choose.choice(self.counters)
        text = f"put_element(x, {name} + 7, 1.5)"
        self.lines.add(f"{text};", f"{text.replace('put_element', 'put_element_')};")

    def _sum_of(self, value: C) -> C:
        name = self.fresh("t")
        self.lines.statement(value, begin=f"double {name} = ")
        return C(f"sum_of_two({name}, 2.0)", f"sum_of_two_({name}, 2.0)")

    def _own_array(self, value: C) -> None:
        """An array of the thread's own, written and read."""
        self.kinds.add("own array")
        name = self.fresh("own")
        if not self.counters:
            return
        counter = self.counters[-1]
        self.lines.add(f"double {name}[8];", f"double {name}[8]; KNOW_LOCAL({name});")
        at = f"{name}[({counter} + 8) & 7]"
        self.lines.statement(assign(at, value))
        self.lines.statement(assign(self.place(), read(at)))

    # -- loops ----------------------------------------------------------------------------------

    def body(self, depth: int) -> None:
        """Statements, and loops inside as deep as `depth`."""
        choose = self.choose
        self.values.counters = tuple(self.counters)
        if choose.random() < 0.35 or depth == 0:
            self.statements(choose.randint(1, 2))
        for _ in range(choose.choice([1, 1, 1, 2]) if depth else 0):
            self.inner(depth)
            self.values.counters = tuple(self.counters)
        if choose.random() < 0.15:
            self.statements(1)

    def inner(self, depth: int) -> None:
        form = self.choose.choice(COMMON if self.large and self.choose.random() < 0.8 else INNER)
        self.kinds.add(form.__name__.replace("_", " ").strip())
        form(self, depth)

    def open_loop(self, head: str, counter: str | None) -> None:
        """A loop's head; its counter may stand in subscripts inside."""
        self.lines.open(head)
        if counter is not None:
            self.counters.append(counter)

    def close_loop(self, counter: str | None, end: str = "}") -> None:
        if counter is not None:
            self.counters.remove(counter)
        self.lines.close(end)

    def header(self, name: str, start: str, bound: str, step: int = 1, *, kind: str = "int") -> str:
        """`for (...)` from start to before the bound, or from before the bound down to start."""
        choose = self.choose
        ctype = f"{kind} " if kind else ""
        if choose.random() < 0.75:
            move = (choose.choice([f"{name}++", f"++{name}"]) if step == 1 else
                    choose.choice([f"{name} += {step}", f"{name} = {name} + {step}",
                                   f"{name} = {step} + {name}"]))  # fmt: skip
            test = choose.choice([f"{name} < {bound}"] * 3 + [f"{bound} > {name}",
                                 f"{name} <= {bound} - 1"] + [f"{name} != {bound}"] * (step == 1
                                 and start.isdigit() and bound.isdigit()))  # fmt: skip
            return f"for ({ctype}{name} = {start}; {test}; {move})"
        self.kinds.add("downward")
        move = f"{name}--" if step == 1 else f"{name} -= {step}"
        return f"for ({ctype}{name} = {bound} - 1; {name} >= {start}; {move})"


def program(seed: int, *, large: bool = False) -> RandomProgram:
    """The program of a seed; a `large` one has loops and arrays of some hundred lines' length."""
    own = Builder(seed, large=large)
    choose, lines = own.choose, own.lines
    name = f"f{seed}"
    collapse = choose.choice([1, 1, 1, 1, 1, 2, 2, 3])
    clauses = []
    if collapse > 1:
        spelt = {2: choose.choice(["2", "TWO"]), 3: "3"}[collapse]
        clauses.append(f"collapse({spelt})")
        own.kinds.add("collapse")
    schedule = choose.choice(["", "", "", "static", "static, 1", "static, 3", "dynamic", "guided"])
    if schedule:
        clauses.append(f"schedule({schedule})")
    heads = []
    for _ in range(collapse):
        variable = "ijk"[len(heads)]
        start = own.sizes.number(choose.choice([0, 0, 0, 1, 2]))
        bound = own.sizes.number(own.scaled(choose.randint(3, 9 if collapse > 1 else 22)))
        step = choose.choice([1, 1, 1, 1, 2, 3, 5])
        kind = choose.choice(["int", "int", "int", "long", "unsigned", "short", "size_t"])
        if kind in ("unsigned", "size_t"):
            kind = "unsigned long" if kind == "size_t" else kind
            head = own.header(variable, start, bound, step, kind=kind)
            if "--" in head or "-=" in head:
                head = head.replace(kind, "int", 1)
        else:
            head = own.header(variable, start, bound, step, kind=kind)
        if choose.random() < 0.05 and collapse == 1:
            down = lines.lines
            lines.add("const int down = -2;")
            head = f"for (int {variable} = {bound}; {variable} > {start}; {variable} += down)"
            del down
        heads.append((head, variable))
    lines.depth = 0
    lines.add(f"#pragma omp parallel for {' '.join(clauses)}".rstrip())
    lines.depth = 1
    for head, variable in heads:
        own.open_loop(head, variable)
    lines.lines[-1] = lines.lines[-1]._replace(twin=lines.lines[-1].twin + " shared();")
    own.body(choose.choice([0, 1, 1, 1, 2]) if collapse < 3 else choose.choice([0, 1]))
    for _, variable in reversed(heads):
        own.close_loop(variable)
    return _finished(own, name, seed)


def _finished(own: Builder, name: str, seed: int) -> RandomProgram:
    parameters = own.sizes.parameters
    declared = ", ".join(f"int {one}" for one, _ in parameters) or "void"
    body = [C(f"void {name}({declared}) {{", f"void {name}({declared}) {{")]
    body += own.lines.lines
    given = ", ".join(str(value) for _, value in parameters)
    calling = f"void call_{name}(void) {{ {name}({given}); }}"
    body += [C("}", "}"), C(calling, calling)]
    shifted = [
        C(line.plain, _moved_by_one(line.twin)) if "@" in line.twin else line for line in body
    ]
    return RandomProgram(
        seed, name, tuple(shifted), tuple(number + 1 for number in own.lines.statements),
        frozenset(own.kinds | own.sizes.tags), own.alike, tuple(parameters), own.large,
    )  # fmt: skip


def _moved_by_one(twin: str) -> str:
    """Positions of statements, counted from the function's first line."""
    parts = twin.replace(LINE, "\0").split("@")
    for at in range(1, len(parts), 2):
        parts[at] = str(int(parts[at]) + 1)
    return "@".join(parts).replace("\0", LINE)
