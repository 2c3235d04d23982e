"""Finds the prose of the project: pages, descriptions in schemas, docstrings and messages."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Fences, front matter and comments of HTML hold no prose.
_NO_PROSE = re.compile(r"^(```|~~~).*?^\1|<!--.*?-->", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``?[^`]*``?")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.|>)\s+")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Code in a string of Python: patterns, C, shell, CSS and markup.
_NO_MESSAGE = re.compile(
    r"\(\?[:<P!=]|\\[bwsd]|#include|#pragma|#define|^\s*<|</|;\s*\n|\{\s*\n|==|&&|^--?\w|::"
    r"|^import |\{\w+: |\[\{|: \{\w"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph, list item, table cell or message, on one line.

    `kind` is "page", "docstring" or "message". Code in backticks is the one word `code`.
    """

    file: str
    line: int
    kind: str
    text: str


def passages(root: Path = ROOT) -> Iterator[Passage]:
    """All prose of the project, in the order of the files' names."""
    rules = (root / "regionpredict" / "report" / "rules").glob("*.md")
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md"), *rules]
    for file in sorted(pages):
        yield from page_passages(file.relative_to(root).as_posix(), file.read_text("utf-8"))
    for file in sorted((root / "regionpredict").rglob("*.json")):
        for text in descriptions(json.loads(file.read_text("utf-8"))):
            yield from _paragraphs(file.relative_to(root).as_posix(), 1, "message", text)
    for file in sorted((root / "regionpredict").rglob("*.py")):
        yield from python_passages(file.relative_to(root).as_posix(), file.read_text("utf-8"))


def page_passages(file: str, text: str) -> Iterator[Passage]:
    """Prose of a Markdown page; headings are left out, since they need no verb."""
    text = _NO_PROSE.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = re.sub(r"^ {4}.*$|^#.*$", "", text, flags=re.MULTILINE)
    yield from _paragraphs(file, 1, "page", text)


def python_passages(file: str, text: str) -> Iterator[Passage]:
    """Docstrings and messages of a Python file."""
    nodes = list(ast.walk(ast.parse(text)))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    seen: set[int] = set()
    for node in nodes:
        if isinstance(node, documented) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                seen.add(id(first.value))
                if isinstance(first.value.value, str):
                    shown = _without_examples(first.value.value)
                    yield from _paragraphs(file, first.lineno, "docstring", shown)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for line in node.body:  # what describes a constant or an attribute
                value = line.value if isinstance(line, ast.Expr) else None
                if isinstance(value, ast.Constant) and id(value) not in seen:
                    seen.add(id(value))
                    yield from _paragraphs(file, line.lineno, "docstring", str(value.value))
        elif isinstance(node, ast.JoinedStr):
            seen.update(id(part) for part in node.values)
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield from _message(file, node.lineno, "".join(map(str, parts)))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in seen:
            yield from _message(file, node.lineno, node.value)


def descriptions(schema: object) -> Iterator[str]:
    """The descriptions and titles in a JSON Schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("description", "title") and isinstance(value, str):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value)


def sentences(text: str) -> list[str]:
    """The sentences of a passage.

    >>> sentences("See eq. 4.2. It adds `a.b`, e.g. here. Why?")
    ['See eq. 4.2.', 'It adds `a.b`, e.g. here.', 'Why?']
    """
    parts = re.split(
        r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\bal\.)[)\"']?\s+(?=[A-Z`\"'({*\[]|\w+: )", text
    )
    return [part.strip() for part in parts if part.strip()]


def words(text: str) -> int:
    """The number of words; a number, a formula or a piece of code is one.

    >>> words("On 11 threads: speedup 2.68 (`a = b + c`).")
    6
    """
    return len(re.findall(r"[\w{}][^\s]*", _CODE.sub("code", text)))


def _message(file: str, line: int, text: str) -> Iterator[Passage]:
    prose = re.search(r"[.,;:{]", text) or len(text) < 200  # a longer list of names is data
    if (
        " " in text.strip()
        and prose
        and len(_WORD.findall(text)) > 1
        and not _NO_MESSAGE.search(text)
    ):
        yield from _paragraphs(file, line, "message", text)


def _without_examples(text: str) -> str:
    """A docstring whose doctests and indented code are blank lines."""
    first, *rest = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    lines, inside = [first], False
    for line in rest:
        inside = line.strip().startswith(">>>") or (inside and bool(line.strip()))
        code = inside or line.startswith(" " * (margin + 4))
        lines.append("" if code else line)
    return "\n".join(lines)


def _paragraphs(file: str, line: int, kind: str, text: str) -> Iterator[Passage]:
    waiting: list[str] = []
    first = line

    def waited() -> Iterator[Passage]:
        joined = " ".join(waiting)
        waiting.clear()
        if joined:
            yield Passage(file, first, kind, _CODE.sub("`code`", _LINK.sub(r"\1", joined)))

    for number, row in enumerate(text.split("\n"), line):
        if row.lstrip().startswith("|"):
            yield from waited()
            for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")):
                if _WORD.search(cell):
                    shown = _CODE.sub("`code`", _LINK.sub(r"\1", cell.strip()))
                    yield Passage(file, number, kind, shown)
        elif not row.strip() or _ITEM.match(row):
            yield from waited()
        if row.strip() and not row.lstrip().startswith("|"):
            if not waiting:
                first = number
            waiting.append(_ITEM.sub("", row).strip())
    yield from waited()
