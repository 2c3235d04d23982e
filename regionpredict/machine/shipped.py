"""Finds and loads machine files by the name of a shipped machine or by path."""

from __future__ import annotations

import re
from pathlib import Path

from regionpredict.documents import MOST_YAML_BYTES, read_text
from regionpredict.errors import InputError
from regionpredict.file_presence import is_file, path_exists
from regionpredict.machine.machines_folder import shipped_folder
from regionpredict.machine.model import Machine
from regionpredict.machine.reader import did_you_mean, read

_SUFFIXES = (".yaml", ".yml")
_ALIASES = re.compile(r"^aliases: \[(.*)\]$", re.MULTILINE)


def shipped_names() -> tuple[str, ...]:
    """Returns the names of the shipped machines in alphabetical order."""
    return tuple(sorted(path.stem for path in shipped_folder().glob("*.yaml")))


def shipped_aliases() -> dict[str, str]:
    """Returns the shipped machine of each alias. An alias is a processor generation, or the name in
    archspec.

    A search for the line `aliases` replaces parsing all files, which would take a second.
    """
    return {
        alias: name
        for name in shipped_names()
        for alias in _aliases_in(shipped_folder() / f"{name}.yaml")
    }


def _aliases_in(path: Path) -> list[str]:
    line = _ALIASES.search(path.read_text(encoding="utf-8"))
    return [alias.strip() for alias in line[1].split(",")] if line else []


def load(name_or_path: str | Path) -> Machine:
    """Loads a machine model, given the name of a shipped machine or the path of a YAML file.

    A text with a folder, or with the suffix .yaml or .yml, is a path. Raises InputError with file,
    line and key for an invalid file, and with the most similar name for an unknown name.
    """
    return load_file(*file_of(name_or_path))


def file_of(name_or_path: str | Path) -> tuple[Path, str]:
    """Returns the path of a machine file for a machine's name or path, and the path that errors
    show.

    Raises InputError with the most similar name for an unknown name.
    """
    text = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or "/" in text or text.endswith(_SUFFIXES)
    if is_path:
        return Path(text), text
    names = shipped_names()
    if text not in names:
        aliases = shipped_aliases()
        text = aliases.get(text, text)
    if text not in names:
        near = did_you_mean(text, (*names, *aliases))
        if not near.startswith("did you mean"):
            file = text if is_file(text) else f"{text}.yaml"
            near = f"`regionpredict machines list` lists them; write a file as a path, ./{file}"
        raise InputError(f"no machine is called '{text}'", remedy=near)
    path = shipped_folder() / f"{text}.yaml"
    return path, f"machines/{path.name}"


def load_file(path: Path, shown: str) -> Machine:
    """Loads the machine file at `path`. Errors show the path `shown`."""
    if not path_exists(path):
        raise InputError(
            "no such machine file", remedy="check the path, or give a shipped name", path=shown
        )
    text = read_text(path, "give a YAML file", most=MOST_YAML_BYTES, shown=shown)
    return read(text, shown)
