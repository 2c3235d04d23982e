"""Converts results to JSON: fields of values as objects, and the text of a document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from regionpredict.ir import Expr

_ENCODE = json.JSONEncoder().encode


def fields_of(value: Any, names: str, **renamed: str) -> dict[str, Any]:
    """Returns the fields `names` of a value, and those of `renamed` by their names in JSON.

    >>> fields_of(3 + 4j, "real", imaginary="imag")
    {'real': 3.0, 'imaginary': 4.0}
    """
    keys = {name: name for name in names.split()} | renamed
    return {key: plain(getattr(value, name)) for key, name in keys.items()}


def plain(value: Any) -> Any:
    """Converts a value to JSON: objects of fields, lists, numbers and texts. Its method `as_plain`
    takes precedence.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if hasattr(value, "as_plain"):
        return value.as_plain()
    if isinstance(value, (Expr, Exception)):
        return str(value)
    if is_dataclass(value):
        return fields_of(value, " ".join(field.name for field in fields(value)))
    if hasattr(value, "_fields"):
        return fields_of(value, " ".join(value._fields))
    return [plain(own) for own in value]


def as_json(document: Mapping[str, Any]) -> str:
    """Encodes the document as text with a final newline. Objects and lists without nested values
    are on one line.
    """
    return _encode(document, "\n") + "\n"


def _encode(value: Any, line: str) -> str:
    """Encodes a value. This is faster than `json.dumps` with an indent, which writes each value
    separately.
    """
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)) or not any(isinstance(v, (dict, list)) for v in inner):
        return _ENCODE(value)
    deeper = line + " "
    if isinstance(value, dict):
        items = [f"{_ENCODE(key)}: {_encode(item, deeper)}" for key, item in value.items()]
        return "{" + deeper + f",{deeper}".join(items) + line + "}"
    return "[" + deeper + f",{deeper}".join([_encode(item, deeper) for item in value]) + line + "]"
