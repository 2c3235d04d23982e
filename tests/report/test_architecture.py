"""`docs/architecture.md` is true to the code, and imports go the way it says."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from print_modules import modules

if sys.version_info >= (3, 11):
    import tomllib
else:  # the standard library reads TOML from 3.11 on
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "regionpredict"
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = re.findall(r"^### `([\w./]+)`$", DOCUMENT, re.MULTILINE)
# Not of the pipeline: what `python -m` and pytest look for.
DOORS = {"__init__.py", "__main__.py", "pytest_plugin.py"}


def sections() -> dict[str, str]:
    parts = re.split(r"^### `([\w./]+)`$", DOCUMENT, flags=re.MULTILINE)[1:]
    return {
        name: text.split("\n## ")[0] for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_every_room_named_exists_and_every_room_is_named() -> None:
    existing = {
        path.name + "/" if path.is_dir() else path.name
        for path in PACKAGE.iterdir()
        if (path.is_dir() and (path / "__init__.py").exists())
        or (path.suffix == ".py" and path.name not in DOORS)
    }
    assert set(ROOMS) == existing


@pytest.mark.parametrize("room", [room for room in ROOMS if room.endswith("/")])
def test_files_named_in_a_room_exist(room: str) -> None:
    for name in re.findall(r"`([\w]+(?:\.py|/))`", sections()[room]):
        inside = any((PACKAGE / room).rglob(name.rstrip("/")))
        assert inside or (PACKAGE / name).exists() or (ROOT / name).exists(), name


def test_every_module_says_in_one_short_sentence_what_it_does() -> None:
    """The document lists no modules: `print_modules.py` does, from these sentences."""
    for name, sentence in modules().items():
        assert sentence.endswith((".", ":")), f"{name}: {sentence}"
        assert len(sentence.split()) <= 25, f"{name}: {sentence}"


def test_every_room_says_its_door() -> None:
    for room in ROOMS:
        if room.endswith("/"):
            first = (PACKAGE / room / "__init__.py").read_text()
            assert first.startswith('"""'), f"{room} has no docstring that says its door"


def test_links_lead_somewhere() -> None:
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} -> {target}"


def layers() -> dict[str, int]:
    """Room -> height; rooms of one line share theirs."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["name"] == "The stairs go one way")
    height: dict[str, int] = {}
    for level, line in enumerate(reversed(contract["layers"])):
        for room in line.split("|"):
            height[room.strip("() ").removeprefix("regionpredict.")] = level
    return height


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


def imported_rooms(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes_of(path):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module]
            if node.module == "regionpredict":
                names = [f"regionpredict.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("regionpredict."):
                found.add(name.split(".")[1])
    return found


def test_imports_go_one_way() -> None:
    height = layers()
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room not in height:
            continue
        for other in imported_rooms(path) - {room}:
            if other in height:
                assert height[other] < height[room], f"{path.relative_to(ROOT)} imports {other}"


def test_rooms_stand_in_the_document_from_the_ground_up() -> None:
    height = layers()
    order = [height[room.strip("/").removesuffix(".py")] for room in ROOMS]
    assert order == sorted(order)


STARTS_PROGRAMS = {"fit", "machine", "measure"}  # these hand the environment on to what they run


def test_only_the_command_line_prints_and_reads_the_environment() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(PACKAGE / "cli") or path.name in DOORS:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used = f"{node.value.id}.{node.attr}"
                assert used not in ("sys.exit", "sys.argv"), (path, used)
                if path.relative_to(PACKAGE).parts[0] not in STARTS_PROGRAMS:
                    assert used not in ("os.environ", "os.getenv"), (path, used)
