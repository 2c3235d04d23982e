"""Reads the worksharing loops of a sample, for the tests alone.

This reader shares no code with the package: it parses a sample with pycparser, after blanking
the preprocessor's lines (the functions of a sample use no macro outside `main`), and lists, for
every worksharing loop, its statements with their operations and array references. What a
statement does is read off the tree; how often it runs is never derived here but counted by
running the loops (`region_runner`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

_GENERATOR = c_generator.CGenerator(reduce_parentheses=True)
_BYTES = {"double": 8, "float": 4, "int": 4, "unsigned": 4, "unsigned int": 4, "long": 8}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
_ARITHMETIC = {"+": "add", "-": "add", "*": "mul", "/": "div", "%": "div"}
_BITS = {"&", "|", "^", "<<", ">>"}


@dataclass(frozen=True)
class Variable:
    """Type of a name: its base type and, for an array, the nodes of its extents."""

    base: str
    extents: tuple[c_ast.Node, ...] = ()

    @property
    def floating(self) -> bool:
        return self.base in {"double", "float"}

    @property
    def element_bytes(self) -> int:
        return _BYTES[self.base]


@dataclass(frozen=True)
class Reference:
    """One array reference: `kind` is read or write; `loops` is the nest, outermost first."""

    array: str
    subscripts: tuple[c_ast.Node, ...]
    kind: str
    loops: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.array + "".join(f"[{text_of(node)}]" for node in self.subscripts)

    def names(self, position: int) -> set[str]:
        """The loop variables of the nest in one subscript."""
        return names_in(self.subscripts[position]) & set(self.loops)

    @property
    def used(self) -> set[str]:
        """The loop variables of the nest in any subscript."""
        return set().union(*(self.names(position) for position in range(len(self.subscripts))))


@dataclass(frozen=True)
class Statement:
    """One statement of a region, with what a single execution does."""

    node: c_ast.Node
    text: str
    operations: dict[str, int]
    references: tuple[Reference, ...]
    loops: tuple[str, ...]


@dataclass
class Region:
    """One worksharing loop: `loop` is the `for` behind the directive, in `definition`."""

    function: str
    definition: c_ast.FuncDef
    pragma: str
    loop: c_ast.For
    collapse: int
    variables: dict[str, Variable]
    private: set[str] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)

    def arrays(self) -> dict[str, int]:
        """Effective dimensions of every array referenced."""
        dims: dict[str, int] = {}
        for statement in self.statements:
            for ref in statement.references:
                moved = sum(bool(ref.names(p)) for p in range(len(ref.subscripts)))
                dims[ref.array] = max(dims.get(ref.array, 0), moved)
        return dims


def text_of(node: c_ast.Node) -> str:
    """The source text of a node, on one line, with single blanks and few parentheses."""
    text = re.sub(r"\s+", " ", _GENERATOR.visit(node)).strip()
    text = re.sub(r"\(\((double|int)\) (\w+)\)", r"(\1)\2", text)
    return re.sub(r"\(([^()]*)\) \? \(([^()]*)\) : \(([^()]*)\)", r"\1 ? \2 : \3", text)


def names_in(node: c_ast.Node) -> set[str]:
    """Every name that occurs in an expression."""
    found = {node.name} if isinstance(node, c_ast.ID) else set()
    for _, child in node.children():
        found |= names_in(child)
    return found


def parse(path: Path) -> c_ast.FileAST:
    """The tree of a sample, without its inclusions and macros."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    lines = [
        line if not line.lstrip().startswith("#") or line.lstrip().startswith("#pragma") else ""
        for line in text.splitlines()
    ]
    return c_parser.CParser().parse("typedef unsigned long size_t;" + "\n".join(lines) + "\n")


def functions(path: Path) -> dict[str, c_ast.FuncDef]:
    """The functions of a sample by name, in file order, `main` left out."""
    tree = parse(path)
    found = {item.decl.name: item for item in tree.ext if isinstance(item, c_ast.FuncDef)}
    found.pop("main", None)
    return found


def is_worksharing(node: c_ast.Node) -> bool:
    """Whether a node is a directive that shares a loop out."""
    return isinstance(node, c_ast.Pragma) and bool(re.match(r"omp\b.*\bfor\b", node.string))


def regions(path: Path) -> list[Region]:
    """Every worksharing loop of a sample, in file order."""
    found: list[Region] = []
    for name, function in functions(path).items():
        variables = _variables(function)
        for pragma, loop in _shared_loops(function.body):
            clause = re.search(r"collapse\((\d+)\)", pragma)
            collapse = int(clause[1]) if clause else 1
            region = Region(name, function, pragma, loop, collapse, variables)
            _collect(region, loop, ())
            found.append(region)
    return found


def header_variable(loop: c_ast.For) -> str:
    """The variable that a `for` counts."""
    first = loop.init
    if isinstance(first, c_ast.DeclList):
        return str(first.decls[0].name)
    return str(first.lvalue.name)


def _variables(function: c_ast.FuncDef) -> dict[str, Variable]:
    """Types of all parameters and locals of a function."""
    found: dict[str, Variable] = {}

    def walk(node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl):
            found[node.name] = _type(node.type)
        for _, child in node.children():
            walk(child)

    walk(function)
    return found


def _type(node: c_ast.Node) -> Variable:
    extents: list[c_ast.Node] = []
    while isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl)):
        extents.append(node.dim if isinstance(node, c_ast.ArrayDecl) else None)
        node = node.type
    return Variable(" ".join(node.type.names), tuple(extents))


def _shared_loops(node: c_ast.Node) -> list[tuple[str, c_ast.For]]:
    found: list[tuple[str, c_ast.For]] = []
    children = [child for _, child in node.children()]
    for position, child in enumerate(children):
        if is_worksharing(child):
            follower = children[position + 1]
            assert isinstance(follower, c_ast.For), "a loop must follow the directive"
            found.append((child.string, follower))
        else:
            found += _shared_loops(child)
    # A loop that follows its directive has been walked as a child too, but holds no directive.
    return found


def _collect(region: Region, node: c_ast.Node, loops: tuple[str, ...]) -> None:
    """Appends the statements under a node, in file order."""
    if isinstance(node, c_ast.For):
        _collect(region, node.stmt, (*loops, header_variable(node)))
    elif isinstance(node, c_ast.Compound):
        for item in node.block_items or []:
            _collect(region, item, loops)
    elif isinstance(node, c_ast.If):
        _append(region, node.cond, f"if ({text_of(node.cond)})", loops)
        _collect(region, node.iftrue, loops)
        if node.iffalse is not None:
            _collect(region, node.iffalse, loops)
    elif isinstance(node, c_ast.Decl):
        region.private.add(node.name)
        if node.init is not None:
            _append(region, node, text_of(node), loops, expression=node.init)
    elif isinstance(node, c_ast.Pragma):
        return
    else:
        _append(region, node, text_of(node), loops)


def _append(
    region: Region,
    node: c_ast.Node,
    text: str,
    loops: tuple[str, ...],
    expression: c_ast.Node | None = None,
) -> None:
    reader = _Expression(region.variables, loops)
    reader.read(node if expression is None else expression)
    region.statements.append(
        Statement(node, text, dict(reader.operations), tuple(reader.references), loops)
    )


class _Expression:
    """Counts the operations of an expression and lists its references, left to right."""

    def __init__(self, variables: dict[str, Variable], loops: tuple[str, ...]) -> None:
        self.variables = variables
        self.loops = loops
        self.operations: Counter[str] = Counter()
        self.references: list[Reference] = []

    def read(self, node: c_ast.Node) -> bool:
        """Takes an expression in; returns whether its value is floating-point."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NotImplementedError(f"{type(node).__name__} in {text_of(node)}")
        return bool(method(node))

    def _id(self, node: c_ast.ID) -> bool:
        return self.variables[node.name].floating

    def _constant(self, node: c_ast.Constant) -> bool:
        return node.type in {"double", "float"}

    def _cast(self, node: c_ast.Cast) -> bool:
        self.read(node.expr)
        return _type(node.to_type.type).floating

    def _arrayref(self, node: c_ast.ArrayRef) -> bool:
        return self._reference(node, ("read",))

    def _reference(self, node: c_ast.Node, kinds: tuple[str, ...]) -> bool:
        """Lists a reference (of an lvalue also the write), then those in its subscripts."""
        if isinstance(node, c_ast.ID):
            return self._id(node)
        subscripts: list[c_ast.Node] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, node.subscript)
            node = node.name
        self.references += [
            Reference(node.name, tuple(subscripts), kind, self.loops) for kind in kinds
        ]
        inner = _Expression(self.variables, self.loops)
        for subscript in subscripts:
            inner.read(subscript)
        self.references += inner.references
        return self.variables[node.name].floating

    def _assignment(self, node: c_ast.Assignment) -> bool:
        if node.op == "=":
            floating = self._reference(node.lvalue, ("write",))
            self.read(node.rvalue)
            return floating
        floating = self._reference(node.lvalue, ("read", "write"))
        right = self.read(node.rvalue)
        self._arithmetic(node.op[:-1], floating or right)
        return floating

    def _binaryop(self, node: c_ast.BinaryOp) -> bool:
        left = self.read(node.left)
        right = self.read(node.right)
        return self._arithmetic(node.op, left or right)

    def _arithmetic(self, operator: str, floating: bool) -> bool:
        kind = "fp" if floating else "int"
        if operator in _COMPARISONS:
            self.operations[f"{kind}_compare"] += 1
            return False
        if operator in _ARITHMETIC:
            self.operations[f"{kind}_{_ARITHMETIC[operator]}"] += 1
        elif operator in _BITS:
            self.operations["int_logic"] += 1
        return floating

    def _unaryop(self, node: c_ast.UnaryOp) -> bool:
        if node.op in {"p++", "++", "p--", "--"}:
            floating = self._reference(node.expr, ("read", "write"))
            return self._arithmetic("+", floating)
        floating = self.read(node.expr)
        if node.op == "-" and floating:
            self.operations["fp_neg"] += 1
        elif node.op == "-" and not isinstance(node.expr, c_ast.Constant):
            raise NotImplementedError(f"integer negation in {text_of(node)}")
        return floating

    def _ternaryop(self, node: c_ast.TernaryOp) -> bool:
        self.read(node.cond)
        left = self.read(node.iftrue)
        right = self.read(node.iffalse)
        return left or right

    def _funccall(self, node: c_ast.FuncCall) -> bool:
        for argument in node.args.exprs if node.args else []:
            self.read(argument)
        name = {"sqrt": "fp_sqrt", "fabs": "fp_neg"}.get(node.name.name, f"call:{node.name.name}")
        self.operations[name] += 1
        return True
