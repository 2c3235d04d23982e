"""C text in two forms at once: the program, and its twin that counts what it does.

Every piece of text is a `C`: `plain` is what a person would have written, `twin` the same with the
macros of `twin.c` around statements, operators and references. `Lines` collects lines of both, so
that a statement has the same line number in both.
"""

from __future__ import annotations

from typing import NamedTuple

_NAMES = {
    "+": "ADD", "-": "ADD", "*": "MUL", "/": "DIV", "%": "DIV", "&": "LOGIC", "|": "LOGIC",
    "^": "LOGIC", "<<": "LOGIC", ">>": "LOGIC",
}  # fmt: skip
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
LINE = "@L@"  # in twin text: the number of the line that the text comes to stand in


class C(NamedTuple):
    """A piece of C, plain and counted."""

    plain: str
    twin: str


def same(text: str) -> C:
    """Text that counts nothing."""
    return C(text, text)


def read(place: C | str, *, whole: bool = False) -> C:
    """The value of an element; `whole`: which one it is, nobody can tell from the source."""
    return _memory("READ", place, whole=whole)


def binary(left: C, op: str, right: C) -> C:
    """`left op right`, in parentheses."""
    plain = f"({left.plain} {op} {right.plain})"
    if op in _COMPARISONS:
        return C(plain, f"COMPARED({LINE}, {left.twin}, {op}, {right.twin})")
    return C(plain, f"COMPUTED({LINE}, {_NAMES[op]}, {left.twin}, {op}, {right.twin})")


def call(function: str, kind: str, *arguments: C) -> C:
    """A call of the math library that is one operation of its result's type."""
    plain = f"{function}({', '.join(one.plain for one in arguments)})"
    twin = f"{function}({', '.join(one.twin for one in arguments)})"
    return C(plain, f"LIBRARY({LINE}, {kind}, {twin})")


def chosen(condition: C, then: C, other: C) -> C:
    """`condition ? then : other`; the twin evaluates both, since both are counted."""
    plain = f"({condition.plain} ? {then.plain} : {other.plain})"
    return C(plain, f"CHOSEN({condition.twin}, {then.twin}, {other.twin})")


def cast(ctype: str, value: C) -> C:
    return C(f"({ctype}){value.plain}", f"(({ctype})({value.twin}))")


def negative(value: C) -> C:
    return C(f"(-{value.plain})", f"NEGATED({LINE}, {value.twin})")


def assign(place: C | str, value: C, *, whole: bool = False) -> C:
    """`place = value`, the value first."""
    plain = place if isinstance(place, str) else place.plain
    target = _memory("WRITTEN", place, whole=whole)
    return C(f"{plain} = {value.plain}", f"ASSIGNED({target.twin}, {value.twin})")


def update(place: C | str, op: str, value: C, *, whole: bool = False) -> C:
    """`place op= value` of an element."""
    plain = place if isinstance(place, str) else place.plain
    target = _memory("UPDATED", place, whole=whole)
    kind = _NAMES[op]
    return C(f"{plain} {op}= {value.plain}",
             f"COMBINED({LINE}, {kind}, {target.twin}, {op}, {value.twin})")  # fmt: skip


def set_scalar(name: str, op: str, value: C) -> C:
    """`name op= value` of a variable, `op` being "" for `=`."""
    plain = f"{name} {op}= {value.plain}"
    if not op:
        return C(plain, f"{name} = {value.twin}")
    return C(plain, f"COMBINED({LINE}, {_NAMES[op]}, {name}, {op}, {value.twin})")


def stepped(name: str, op: str = "++") -> C:
    """`name++` as a statement or a value."""
    return C(f"{name}{op}", f"(STEPPED({LINE}, {name}), {name}{op})")


def _memory(macro: str, place: C | str, *, whole: bool) -> C:
    plain, twin = (place, place) if isinstance(place, str) else place
    return C(plain, f"{macro}({LINE}, {int(whole)}, {twin})")


class Lines:
    """Lines of one function, and which of them hold statements that are counted."""

    def __init__(self) -> None:
        self.lines: list[C] = []
        self.statements: list[int] = []  # positions in `lines`
        self.depth = 1
        self.within: list[list[int]] = []  # places before conditions whose statements count there

    def add(self, plain: str, twin: str | None = None) -> int:
        """A line; without `twin` the same in both. Returns its position."""
        pad = "  " * self.depth
        self.lines.append(C(pad + plain, pad + (plain if twin is None else twin)))
        return len(self.lines) - 1

    def hidden(self) -> int:
        """A line of the twin alone, empty in the program; text may still come into it."""
        self.lines.append(C("", ""))
        return len(self.lines) - 1

    def statement(self, text: C, begin: str = "", end: str = ";") -> None:
        """A statement of one line. Behind a condition it counts as often as the condition."""
        place = len(self.lines)
        self.statements.append(place)
        if self.within:
            for hidden in self.within[-1]:
                before = self.lines[hidden]
                self.lines[hidden] = before._replace(twin=before.twin + f"REACHED(@{place}@);")
            counted = f"PASSED({LINE}), {text.twin}"
        else:
            counted = f"RUN({LINE}), {text.twin}"
        self.add(f"{begin}{text.plain}{end}", f"{begin}({counted}){end}")

    def open(self, head: str, twin: str | None = None) -> None:
        self.add(head + " {", (head if twin is None else twin) + " {")
        self.depth += 1

    def close(self, end: str = "}") -> None:
        self.depth -= 1
        self.add(end)
