"""Finds command-line macros that no file uses, which are probably typing errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from regionpredict.errors import InputError


def unused_macros(macros: Sequence[tuple[str, str]], files: Iterable[str]) -> list[str]:
    """Returns the names in `macros` that occur in no file and in no other macro's value. An
    unreadable file is ignored.
    """
    from regionpredict.frontend.requests.regular_files import read_regular_file

    left = {
        name.partition("(")[0]: None for name, _ in macros
        if not any(_has_word(value.encode("utf-8", "surrogateescape"), name) for _, value in macros)
    }  # fmt: skip
    for file in files:
        if not left:
            break
        try:
            text = read_regular_file(file)
        except InputError:
            continue
        left = {name: None for name in left if not _has_word(text, name)}
    return list(left)


def _has_word(text: bytes, name: str) -> bool:
    word = re.escape(name.partition("(")[0].encode("utf-8", "surrogateescape"))
    return re.search(rb"(?<!\w)" + word + rb"(?!\w)", text) is not None
