"""Lines over a logarithmic axis as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP = 420, 260, 60, 40
_STROKES = ("#20639b", "#c0392b", "#228833")
_DASHES = ("", "7 4", "2 3")
_STEPS = 4

Points = Sequence[tuple[float, float]]


def line_plot_svg(title: str, axis: str, lines: Mapping[str, Points]) -> str:
    """Each line by its name over x > 0; y begins at 0. Lines differ in colour and in dashes."""
    known = [point for points in lines.values() for point in points]
    low, high = min(x for x, _ in known), max(x for x, _ in known)
    top = max(1.0, *(y for _, y in known))

    def x_of(value: float) -> float:
        share = math.log(value / low) / math.log(high / low) if high > low else 0.5
        return round(_LEFT + _WIDTH * share, 1)

    def y_of(value: float) -> float:
        return round(_TOP + _HEIGHT * (1 - value / top), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + 90}" height="{_HEIGHT + 130}">',
        "<style>text{font:12px sans-serif;fill:#222}.grid{stroke:#bbb}</style>",
        f'<text x="{_LEFT}" y="22">{escape(title)}</text>',
    ]
    for step in range(_STEPS + 1):
        y = top * step / _STEPS
        parts.append(f'<path class="grid" d="M{_LEFT} {y_of(y)}H{_LEFT + _WIDTH}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y_of(y) + 4}" text-anchor="end">{y:.2f}</text>')
    for x in sorted({x for x, _ in known}):
        parts.append(f'<text x="{x_of(x)}" y="{y_of(0) + 18}" text-anchor="middle">{x:g}</text>')
    middle = _LEFT + _WIDTH / 2
    parts.append(
        f'<text x="{middle}" y="{y_of(0) + 40}" text-anchor="middle">{escape(axis)}</text>'
    )
    for number, (name, points) in enumerate(lines.items()):
        stroke, dash = _STROKES[number % len(_STROKES)], _DASHES[number % len(_DASHES)]
        style = f'fill="none" stroke="{stroke}" stroke-width="2" stroke-dasharray="{dash}"'
        path = " ".join(f"{x_of(x)},{y_of(y)}" for x, y in points)
        parts.append(f'<polyline {style} points="{path}"/>')
        at = y_of(0) + 62 + 16 * number
        parts.append(f'<path {style} d="M{_LEFT} {at - 4}h34"/>')
        parts.append(f'<text x="{_LEFT + 42}" y="{at}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
