"""Random loop nests as C text, and what they do, by carrying them out.

A `Nest` is written as C for the front ends and run in Python for the truth: the executions of its
innermost statement, the iterations of its outermost loop, and the box of the elements it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

VARIABLES = ("i", "j", "k")
Affine = dict[str, int]  # name -> coefficient; "" is the constant


def text_of(value: Affine) -> str:
    """`2*i + n - 1`."""
    parts = []
    for name, factor in value.items():
        if not factor and len(value) > 1:
            continue
        body = (name if abs(factor) == 1 else f"{abs(factor)}*{name}") if name else str(abs(factor))
        parts.append(("- " if factor < 0 else "+ ") + body)
    text = " ".join(parts) or "0"
    return text[2:] if text.startswith("+ ") else text.replace("- ", "-", 1)


def value_of(value: Affine, at: dict[str, int]) -> int:
    return sum(factor * (at[name] if name else 1) for name, factor in value.items())


@dataclass(frozen=True)
class Header:
    """`for (v = start; v comparison bound; v += step)`."""

    start: Affine
    comparison: str
    bound: Affine
    step: int

    def text(self, name: str) -> str:
        move = {1: f"{name}++", -1: f"{name}--"}.get(
            self.step, f"{name} {'+' if self.step > 0 else '-'}= {abs(self.step)}"
        )
        head = f"int {name} = {text_of(self.start)}; {name} {self.comparison} {text_of(self.bound)}"
        return f"for ({head}; {move})"

    def values(self, at: dict[str, int]) -> range:
        """The values that the variable takes, as C takes them (`!=` is met exactly)."""
        start, bound = value_of(self.start, at), value_of(self.bound, at)
        if self.comparison in ("<=", ">="):
            bound += 1 if self.step > 0 else -1
        return range(start, bound, self.step)


@dataclass(frozen=True)
class Nest:
    """Loops i, j, k as many as `headers`, around `a[subscripts] = b[subscripts]`."""

    headers: tuple[Header, ...]
    subscripts: tuple[Affine, ...] = ()

    def text(self, function: str = "f") -> str:
        lines = [f"void {function}(int n) {{", "#pragma omp parallel for"]
        for depth, header in enumerate(self.headers):
            lines.append("  " * (depth + 1) + header.text(VARIABLES[depth]))
        place = "".join(f"[{text_of(one)}]" for one in self.subscripts) or "[0]"
        lines.append(
            "  " * (len(self.headers) + 1) + f"a{max(1, len(self.subscripts))}{place} = 1;"
        )
        return "\n".join([*lines, "}", ""])

    def points(self, n: int) -> Iterator[dict[str, int]]:
        """Every iteration of the innermost loop, with the values of all variables."""

        def below(depth: int, at: dict[str, int]) -> Iterator[dict[str, int]]:
            if depth == len(self.headers):
                yield at
                return
            for value in self.headers[depth].values(at):
                yield from below(depth + 1, at | {VARIABLES[depth]: value})

        yield from below(0, {"n": n})

    def iterations(self, n: int) -> int:
        return len(self.headers[0].values({"n": n}))

    def executions(self, n: int) -> int:
        return sum(1 for _ in self.points(n))

    def box_bytes(self, n: int, *, to_bounds: bool = False) -> int:
        """Bytes of the bounding box of the touched elements; 0 where none is.

        `to_bounds` adds what the last values of strided loops lack to one step beyond.
        """
        touched = [[value_of(one, at) for one in self.subscripts] for at in self.points(n)]
        total = 8 if touched else 0
        for subscript, column in zip(self.subscripts, zip(*touched, strict=True), strict=False):
            slack = 0
            if to_bounds:
                for name, header in zip(VARIABLES, self.headers, strict=False):
                    slack += abs(subscript.get(name, 0)) * (abs(header.step) - 1)
            total *= max(column) - min(column) + 1 + slack
        return total


ARRAYS = "double a1[4000], a2[400][400], a3[200][200][200];\n"

small = st.integers(0, 2)


@st.composite
def rectangular_header(draw: st.DrawFn) -> Header:
    """Ends that depend on `n` alone; every comparison, up and down, any stride."""
    low, high = {"": draw(st.integers(0, 3))}, {"n": 1, "": draw(st.integers(-2, 3))}
    step = draw(st.sampled_from([1, 1, 1, 2, 3, 4]))
    if draw(st.booleans()):
        comparison = draw(st.sampled_from(["<", "<="] + ["!="] * (step == 1)))
        return Header(low, comparison, high, step)
    comparison = draw(st.sampled_from([">", ">="] + ["!="] * (step == 1)))
    return Header(high, comparison, low, -step)


@st.composite
def inner_header(draw: st.DrawFn, outer: str, steps: tuple[int, ...] = (1,)) -> Header:
    """One end moves with the loop around it: below it, above it, or a band around it."""
    shift = {"": draw(st.integers(-2, 3))}
    shape = draw(st.sampled_from(["below", "above", "band"]))
    if shape == "below":
        low, high = {"": draw(small)}, {outer: 1} | shift
    elif shape == "above":
        low, high = {outer: 1} | shift, {"n": 1, "": draw(st.integers(-1, 2))}
    else:
        low = {outer: 1} | shift
        high = {outer: 1, "": shift[""] + draw(st.integers(0, 5))}
    step = draw(st.sampled_from(steps))
    if draw(st.booleans()):
        return Header(low, draw(st.sampled_from(["<", "<="])), high, step)
    return Header(high, draw(st.sampled_from([">", ">="])), low, -step)


@st.composite
def rectangular(draw: st.DrawFn) -> Nest:
    return Nest(tuple(draw(st.lists(rectangular_header(), min_size=1, max_size=3))))


@st.composite
def unit_header(draw: st.DrawFn) -> Header:
    header = draw(rectangular_header())
    return Header(header.start, header.comparison, header.bound, 1 if header.step > 0 else -1)


@st.composite
def triangular(draw: st.DrawFn) -> Nest:
    """Two or three loops of step one, each inner one bounded by a loop around it or by n."""
    headers = [draw(unit_header()), draw(inner_header("i"))]
    if draw(st.booleans()):
        headers.append(draw(inner_header(draw(st.sampled_from(["i", "j"]))) | unit_header()))
    return Nest(tuple(headers))


@st.composite
def strided_inside(draw: st.DrawFn) -> Nest:
    """An inner loop with a stride, bounded by the outer one; also an outer loop with one."""
    return Nest((draw(rectangular_header()), draw(inner_header("i", (1, 2, 3)))))


@st.composite
def with_subscripts(draw: st.DrawFn, nests: st.SearchStrategy[Nest]) -> Nest:
    """The nest writing an element whose subscripts are affine in the variables."""
    nest = draw(nests)
    names = VARIABLES[: len(nest.headers)]
    subscripts = []
    for name in draw(st.permutations(names)):
        one: Affine = {name: draw(st.sampled_from([1, 1, 1, 2])), "": 20}
        if draw(st.booleans()) and len(names) > 1:
            other = draw(st.sampled_from([v for v in names if v != name]))
            one[other] = draw(st.sampled_from([1, -1]))
        subscripts.append(one)
    return Nest(nest.headers, tuple(subscripts))
