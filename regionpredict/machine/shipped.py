"""Finds machine files: shipped ones by name, and others by path."""

from __future__ import annotations

import re
from pathlib import Path

from regionpredict.documents import MOST_YAML_BYTES, read_text
from regionpredict.errors import InputError
from regionpredict.file_presence import exists, is_file
from regionpredict.machine.machines_folder import shipped_folder
from regionpredict.machine.model import Machine
from regionpredict.machine.reader import did_you_mean, read

_SUFFIXES = (".yaml", ".yml")
_ALIASES = re.compile(r"^aliases: \[(.*)\]$", re.MULTILINE)


def shipped_names() -> tuple[str, ...]:
    """The names of the shipped machines, in alphabetical order."""
    return tuple(sorted(path.stem for path in shipped_folder().glob("*.yaml")))


def shipped_aliases() -> dict[str, str]:
    """Maps each alias to a shipped machine. An alias is a processor generation, or the name in
    archspec.

    The lines of the files are searched for aliases, since parsing all files would take a second.
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
    line and key for an invalid file, and with the nearest name for an unknown one.
    """
    return load_file(*file_of(name_or_path))


def file_of(name_or_path: str | Path) -> tuple[Path, str]:
    """The file for a name or path, and its name in errors.

    Raises InputError with the nearest name for an unknown one.
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
    """Loads the file at `path`. Errors call it `shown`."""
    if not exists(path):
        raise InputError(
            "no such machine file", remedy="check the path, or give a shipped name", path=shown
        )
    text = read_text(path, "give a YAML file", most=MOST_YAML_BYTES, shown=shown)
    return read(text, shown)
