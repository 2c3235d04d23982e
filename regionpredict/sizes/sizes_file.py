"""Reads a file with sizes of a program. The file contains one set, or several named sets.

    small:                       # --sizes sizes.yaml:small
      n: 1000
      grid[0]: 64
    production:                  # --sizes sizes.yaml:production
      n: 4000000
      grid[0]: 512

A file without names of sets is a single set. A name without a value has not been filled in yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import yaml

from regionpredict.documents import compose_yaml, read_text
from regionpredict.errors import InputError, one_line
from regionpredict.sizes.integer_texts import integer_of_text
from regionpredict.sizes.share_texts import share_of_text

LARGEST = 1 << 63
_REMEDY = "write lines NAME: INTEGER, as `regionpredict sizes --format yaml` does"


class SizesFile(NamedTuple):
    """One set of sizes by name, with the line of each size in the file."""

    path: str
    values: Mapping[str, int | Fraction]
    lines: Mapping[str, int]


def read_sizes(path: Path, name: str | None = None) -> SizesFile:
    """Reads the sizes of one set in a file. `name` is required only if the file has several sets.

    Raises InputError at the line of an invalid size, for an unknown set, for a name with two
    values, and for an unreadable file.
    """
    shown = one_line(str(path))
    root = compose_yaml(read_text(path, _REMEDY), shown, _REMEDY)
    if root is None or not isinstance(root, yaml.MappingNode) or not root.value:
        raise InputError("no sizes in it", remedy=_REMEDY, path=shown)
    sets = _sets_by_name(root, shown)
    if not sets:
        if name is not None:
            raise InputError(
                f"no set '{name}': the file is one set without a name",
                remedy="leave the name out", path=shown,
            )  # fmt: skip
        return _read_set(root, shown)
    known = ", ".join(one_line(set_) for set_ in sets)
    for key, value in root.value:
        if not isinstance(value, yaml.MappingNode) or sets[key.value] is not value:
            raise InputError(
                "a size outside of the sets, or a set twice",
                remedy=f"write it into one of: {known}",
                path=shown, line=key.start_mark.line + 1,
            )  # fmt: skip
    if name is None and len(sets) > 1:
        raise InputError(
            "several sets of sizes", remedy=f"choose one with {path.name}:NAME of: {known}",
            path=shown,
        )  # fmt: skip
    chosen = next(iter(sets)) if name is None else name
    if chosen not in sets:
        raise InputError(f"no set '{chosen}'", remedy=f"the sets are: {known}", path=shown)
    return _read_set(sets[chosen], shown)


def _sets_by_name(root: yaml.MappingNode, path: str) -> dict[str, yaml.MappingNode]:
    """Returns the sets by name. The last one of several sets with the same name is returned."""
    sets: dict[str, yaml.MappingNode] = {}
    for key, value in root.value:
        if not isinstance(value, yaml.MappingNode):
            continue
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(
                "the name of a set is not text", remedy=_REMEDY, path=path,
                line=key.start_mark.line + 1,
            )  # fmt: skip
        sets[key.value] = value
    return sets


def _read_set(node: yaml.MappingNode, path: str) -> SizesFile:
    sizes: dict[str, int | Fraction] = {}
    lines: dict[str, int] = {}
    for name, line, text in _read_entries(node, path):
        if name in lines:
            raise InputError(
                f"'{name}' has two values", remedy=f"the other is at line {lines[name]}",
                path=path, line=line,
            )  # fmt: skip
        lines[name] = line
        if text:
            share = share_of_text(name, text)
            sizes[name] = _whole_number(text, name, path, line) if share is None else share
    return SizesFile(path, sizes, lines)


def _read_entries(node: yaml.MappingNode, path: str) -> Iterator[tuple[str, int, str]]:
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.ScalarNode):
            raise InputError("not NAME: INTEGER", remedy=_REMEDY, path=path, line=line)
        empty = value.tag.endswith(":null")
        yield key.value.strip(), line, "" if empty else value.value


def _whole_number(text: str, name: str, path: str, line: int) -> int:
    try:
        number = integer_of_text(text)
    except ValueError:
        raise InputError(
            f"'{one_line(name)}' is not an integer", remedy=_REMEDY, path=path, line=line
        ) from None
    if not -LARGEST <= number < LARGEST:
        raise InputError(
            f"'{one_line(name)}' does not fit 64 bits",
            remedy="no C integer holds such a value", path=path, line=line,
        )  # fmt: skip
    return number
