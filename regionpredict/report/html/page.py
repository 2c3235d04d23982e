"""One HTML file from sections of blocks: the template, the style, the scripts and the data."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.report.html.blocks import Section

_HOLE = re.compile(r"@([A-Z]+)@")


def page(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    """The file's text; `lead` are the lines under the title."""
    shown = [
        {"title": section.title, "blocks": list(section.blocks)}
        for section in sections
        if section.blocks
    ]
    fillings = {
        "TITLE": html.escape(title),
        "STYLE": _asset("page.css"),
        "SCRIPT": _asset("draw.js") + _asset("graph.js") + _asset("page.js"),
        "DATA": script_json({"lead": list(lead), "sections": shown}),
        "FOOTER": html.escape(f"regionpredict {__version__}; this file loads nothing."),
    }
    return _HOLE.sub(lambda hole: fillings[hole[1]], _asset("page.html"))


def script_json(value: Any) -> str:
    """JSON that no HTML parser takes for a tag, and no number that JSON does not have.

    >>> script_json(["</script>", float("inf")])
    '["\\\\u003c/script\\\\u003e",null]'
    """
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    if text.isprintable():
        return text
    # Half of a surrogate pair cannot be written, and a terminal obeys control characters.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _finite(value: Any) -> Any:
    """The value with five digits of what is drawn, and None where a number is not finite."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")
