"""The package needs nothing that Python 3.10, the oldest supported version, lacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import regionpredict

PACKAGE = Path(regionpredict.__file__).parent
NEWER = {
    "enum": {"StrEnum", "verify", "member", "nonmember"},
    "typing": {"Self", "assert_never", "assert_type", "reveal_type", "LiteralString", "Never",
               "Required", "NotRequired", "Unpack", "TypeVarTuple", "override", "TypeAliasType"},
    "datetime": {"UTC"},
    "itertools": {"batched"},
    "contextlib": {"chdir"},
    "hashlib": {"file_digest"},
    "asyncio": {"TaskGroup", "timeout", "Runner"},
}  # fmt: skip
WORDS = re.compile(rf"\b({'|'.join(sorted({'Generic'}.union(*NEWER.values())))})\b")


def newer_parts(text: str) -> Iterator[str]:
    """What a source uses of later versions of Python."""
    tree = ast.parse(text, feature_version=(3, 10))
    for node in ast.walk(tree) if WORDS.search(text) else ():
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            yield from names & NEWER.get(node.module or "", set())
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NEWER.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
            if {"NamedTuple", "Generic"} <= set(bases):
                yield f"generic named tuple {node.name}"


@pytest.mark.parametrize(
    "text",
    ["from enum import StrEnum", "class A(NamedTuple, Generic[T]): x: T", "contextlib.chdir('.')"],
)
def test_newer_parts_are_found(text: str) -> None:
    assert list(newer_parts(text))


def test_the_package_uses_none() -> None:
    found = {
        str(path.relative_to(PACKAGE)): parts
        for path in sorted(PACKAGE.rglob("*.py"))
        if (parts := list(newer_parts(path.read_text(encoding="utf-8"))))
    }
    assert not found
