"""Parses YAML into a tree with line numbers, so that every error has a line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import yaml

from regionpredict.documents import compose_yaml
from regionpredict.errors import InputError


@dataclass(frozen=True, slots=True)
class Item:
    """A YAML value with its `kind` (scalar, sequence or mapping), file and line.

    `key` is the path from the top, such as ``caches[1].latency``. The top value has an empty key.
    """

    path: str
    key: str
    line: int
    kind: str
    text: str
    entries: dict[str, Item]
    elements: tuple[Item, ...]

    def error(self, message: str, remedy: str = "") -> InputError:
        """Returns an error at the line of this value, as one line of text."""
        return _error(message, remedy, self.path, self.line)

    @property
    def where(self) -> str:
        """The key as errors show it."""
        return self.key or "the file"

    def mapping(self, known: Iterable[str]) -> dict[str, Item]:
        """Returns the entries of a mapping. Raises InputError for other values and for keys outside
        `known`.
        """
        if self.kind != "mapping":
            raise self.error(f"{self.where} must be a mapping of keys to values")
        names = list(known)
        for name, item in self.entries.items():
            if name not in names:
                raise item.error(f"unknown key '{name}' in {self.where}", did_you_mean(name, names))
        return self.entries

    def sequence(self) -> tuple[Item, ...]:
        """Returns the elements of a list. Raises InputError for other values."""
        if self.kind != "sequence":
            raise self.error(f"{self.where} must be a list")
        return self.elements

    def scalar(self) -> str:
        """Returns the text of a scalar. Raises InputError for a list or a mapping."""
        if self.kind != "scalar" or not self.text:
            raise self.error(f"{self.where} must be a single value")
        return self.text

    def walk(self) -> Iterator[Item]:
        """Yields this value and all values nested in it."""
        yield self
        for child in (*self.entries.values(), *self.elements):
            yield from child.walk()


def _error(
    message: str, remedy: str, path: str, line: int | None, column: int | None = None
) -> InputError:
    return InputError(
        " ".join(message.split()),
        remedy=" ".join(remedy.split()),
        path=path,
        line=line,
        column=column,
    )


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns a remedy for an unknown name: the most similar of `names`, or all of them.

    >>> did_you_mean("coers", ["cores", "size"])
    "did you mean 'cores'?"
    """
    names = list(names)
    if " " in name:
        return "a text with a comma needs quotes inside { }"
    near = difflib.get_close_matches(name, names, n=1) or [n for n in names if name in n][:1]
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(names)}"


def parse(text: str, path: str) -> Item:
    """Parses YAML text. Raises InputError with the line for invalid YAML or a duplicate key."""
    node = compose_yaml(text, path, "check the indentation, colons and brackets here")
    if node is None:
        raise InputError(
            "the file is empty", remedy="docs/machines.md shows a machine in 30 lines", path=path
        )
    return _item(node, path, "", node.start_mark.line + 1)


def _item(node: yaml.Node, path: str, key: str, line: int) -> Item:
    if isinstance(node, yaml.ScalarNode):
        empty = node.tag == "tag:yaml.org,2002:null"
        text = "" if empty else _printable(node, path, key)
        return Item(path, key, line, "scalar", text, {}, ())
    if isinstance(node, yaml.SequenceNode):
        elements = tuple(
            _item(child, path, f"{key}[{place}]", child.start_mark.line + 1)
            for place, child in enumerate(node.value)
        )
        return Item(path, key, line, "sequence", "", {}, elements)
    entries: dict[str, Item] = {}
    for name_node, child in node.value:
        name, at = _printable(name_node, path, key), name_node.start_mark.line + 1
        if name in entries:
            raise _error(
                f"key '{name}' occurs twice in {key or 'the file'}",
                f"the first is in line {entries[name].line}",
                path,
                at,
            )
        entries[name] = _item(child, path, f"{key}.{name}" if key else name, at)
    return Item(path, key, line, "mapping", "", entries, ())


def _printable(node: yaml.Node, path: str, key: str) -> str:
    """Returns the text of a key or a value. Raises InputError for unprintable characters, because
    the text may appear in a job script or a terminal.
    """
    text = str(node.value)
    if not text.isprintable():
        raise _error(
            f"a text in {key or 'the file'} has a line break or an unprintable character",
            "write it as plain text on one line",
            path,
            node.start_mark.line + 1,
        )
    return text
