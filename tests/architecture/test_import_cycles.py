"""No file of the package imports, by however long a way, one that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "regionpredict"


def module_name(file: Path, root: Path) -> str:
    parts = file.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(inside: ast.AST) -> Iterator[ast.AST]:
    """Every statement of a module. The expressions, ten times as many, import nothing."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for one in getattr(inside, part, ()):
            yield one
            yield from statements(one)


def import_graph(root: Path) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports, those inside functions included.

    `from package.room import name` is an import of the room's door, unless the name is a file.
    """
    files = {module_name(file, root): file for file in root.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        imported: set[str] = set()
        for node in statements(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                imported.update(inner & files.keys())
                if not inner <= files.keys():
                    imported.add(node.module)
        graph[name] = (imported & files.keys()) - {name}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, sorted."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for module in graph[waiting.pop()] - seen:
                seen.add(module)
                waiting.append(module)
        reach[start] = seen
    groups = {
        tuple(sorted(other for other in reach[module] if module in reach[other]))
        for module in graph
        if module in reach[module]
    }
    return sorted(list(group) for group in groups)


def test_no_file_imports_itself_by_a_detour():
    assert cycles(import_graph(PACKAGE)) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "import p.b", "b": "import p.c", "c": ""}, []),
        ({"a": "import p.b", "b": "from p.a import x"}, [["p.a", "p.b"]]),
        ({"a": "from p import b", "b": "def f():\n    import p.c", "c": "from p.a import y"},
         [["p.a", "p.b", "p.c"]]),
    ],
)  # fmt: skip
def test_a_cycle_is_seen(tmp_path, sources, expected):
    root = tmp_path / "p"
    root.mkdir()
    (root / "__init__.py").write_text("")
    for name, text in sources.items():
        (root / f"{name}.py").write_text(text)
    assert cycles(import_graph(root)) == expected
