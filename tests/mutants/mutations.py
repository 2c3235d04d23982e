"""Small changes of a Python file: constants, signs, comparisons, terms that are left out.

Each is one edit of the text at one place, as a slip of the keyboard or of the mind would make it:

    constant        `0.5` -> `1.0`, `4` -> `5`
    sign            `a + b` -> `a - b`, `-a` -> `a`
    factor          `a * b` -> `a / b`
    comparison      `a < b` -> `a <= b`, `a == b` -> `a != b`
    choice          `min(...)` -> `max(...)`, `a and b` -> `a or b`
    left-out term   `a + b` -> `a`, `a * b` -> `a`

Left alone is what no result depends on: docstrings, messages, annotations, `__slots__`, and
`strict=`, which like an assertion only stops what must not happen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}
_COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_CHOICES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file: the characters from `begin` to `end` become `text`.

    `statement` is the line on which the statement begins that holds the change.
    """

    path: Path
    line: int
    statement: int
    begin: int
    end: int
    text: str
    kind: str
    shown: str

    def apply(self, source: str) -> str:
        """The file's text with the change."""
        return source[: self.begin] + self.text + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.shown}"


def mutants_of(path: Path, shown: Path) -> list[Mutant]:
    """Every change of the file at `path`, in the order of the text; named as `shown`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     example = Path(folder) / "f.py"
    ...     _ = example.write_text("def f(a, b):\\n    return a + 2 if a < b else -b\\n")
    ...     [str(mutant) for mutant in mutants_of(example, Path("f.py"))]  # doctest: +ELLIPSIS
    ['f.py:2: left-out term: a + 2 -> a', 'f.py:2: sign: a + 2 -> a - 2', 'f.py:2: constant: 2...
    """
    source = path.read_text(encoding="utf-8")
    return sorted(
        _Reader(source, shown).mutants(ast.parse(source)), key=lambda m: (m.begin, m.end, m.text)
    )


class _Reader:
    """Walks one file; positions are characters from its beginning."""

    def __init__(self, source: str, shown: Path) -> None:
        self.source = source
        self.shown = shown
        self.statement = 1
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def mutants(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.stmt):
            self.statement = node.lineno
        yield from self._of(node)
        for child in _relevant(node):
            yield from self.mutants(child)

    def _of(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            yield from self._arithmetic(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self._text(node.operand)
            yield self._mutant("sign", node, f"({operand})")
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            sign = _COMPARISONS[type(node.ops[0])]
            yield self._between("comparison", node.left, node.comparators[0], sign, node)
        elif isinstance(node, ast.BoolOp):
            sign = "or" if isinstance(node.op, ast.And) else "and"
            yield self._between("choice", node.values[0], node.values[1], sign, node)
        elif isinstance(node, ast.Name) and node.id in _CHOICES:
            yield self._mutant("choice", node, _CHOICES[node.id])

    def _constant(self, node: ast.Constant) -> Iterator[Mutant]:
        if isinstance(node.value, bool):
            yield self._mutant("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            yield self._mutant("constant", node, str(node.value + 1))
        elif isinstance(node.value, float):
            yield self._mutant("constant", node, repr(2 * node.value if node.value else 1.0))

    def _arithmetic(self, node: ast.BinOp) -> Iterator[Mutant]:
        if isinstance(node.left, (ast.JoinedStr, ast.List, ast.Tuple)):
            return  # joins texts or lists: no arithmetic
        kind = "sign" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
        yield self._between(kind, node.left, node.right, _ARITHMETIC[type(node.op)], node)
        yield self._mutant("left-out term", node, self._text(node.left))

    def _between(
        self, kind: str, left: ast.AST, right: ast.AST, sign: str, whole: ast.AST
    ) -> Mutant:
        """The operator between two operands, brackets around these kept, becomes `sign`."""
        begin, end = self._span(left)[1], self._span(right)[0]
        gap = self.source[begin:end]
        before = gap[: len(gap) - len(gap.lstrip(") \n\\"))]
        after = gap[len(gap.rstrip("( \n\\")) :]
        text = f"{before or ' '}{sign}{after or ' '}"
        return self._made(kind, begin, end, text, whole)

    def _mutant(self, kind: str, node: ast.AST, text: str) -> Mutant:
        begin, end = self._span(node)
        return self._made(kind, begin, end, text, node)

    def _made(self, kind: str, begin: int, end: int, text: str, whole: ast.AST) -> Mutant:
        first, last = self._span(whole)
        before = " ".join(self.source[first:last].split())
        changed = self.source[first:begin] + text + self.source[end:last]
        after = " ".join(changed.split())
        line: int = whole.lineno  # type: ignore[attr-defined]
        shown = f"{before} -> {after}"
        return Mutant(self.shown, line, self.statement, begin, end, text, kind, shown)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        where = [
            self._position(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._position(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        ]
        return where[0], where[1]

    def _position(self, line: int, column: int) -> int:
        """`column` counts bytes of UTF-8, as the parser does."""
        begin = self.lines[line - 1]
        text = self.source[begin : self.lines[line]].encode()
        return begin + len(text[:column].decode())

    def _text(self, node: ast.AST) -> str:
        begin, end = self._span(node)
        return self.source[begin:end]


def _relevant(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that decide what the program computes."""
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Raise, ast.Assert)):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
        yield from node.body
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.value
    elif isinstance(node, ast.Assign):
        if not any(isinstance(t, ast.Name) and t.id == "__slots__" for t in node.targets):
            yield node.value
    elif not (_is_docstring(node) or _for_types_alone(node)):
        yield from ast.iter_child_nodes(node)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _for_types_alone(node: ast.AST) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
