"""The scatter of score against utilisation, with areas of decision and trend line, as SVG.

After Chatzopoulos 2012, figures 6.3 to 6.7: a dot is a right hint, a triangle a wrong one. Both
axes are cut into as many equal areas of decision as packages were measured. What is not judged is
not drawn, and has no part in the trend line.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.report.quantities import plural

_SIZE, _LEFT, _TOP = 420, 60, 56
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.area{fill:#e8f0e4}.grid{stroke:#bbb}"
    ".right{fill:#20639b}.wrong{fill:#c0392b}.trend{stroke:#555;stroke-dasharray:6 4}"
)


def comparison_svg(comparison: Comparison) -> str:
    """The plot as an SVG document; regions without a score or utilisation are left out."""
    areas = max(2, comparison.options[-1] if comparison.unit == "packages" else 1)
    points = drawn(comparison)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE + 90}" height="{_SIZE + 116}">',
        f"<style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="22">{escape(comparison.hints.model)} model on '
        f"{escape(comparison.hints.machine)}</text>",
        f'<text x="{_LEFT}" y="38">{_success(points)}</text>',
    ]
    parts += _areas(areas)
    trend = _trend([(x, y) for x, y, _ in points])
    if trend is not None:
        parts.append(_trend_line(*trend))
    parts += [_mark(x, y, verdict) for x, y, verdict in points]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def drawn(comparison: Comparison) -> list[tuple[float, float, Verdict]]:
    """Score and utilisation (0 to 1) of each region that is judged and has both."""
    return [
        (verdict.hint.score, min(verdict.utilisation, 1.0), verdict)
        for verdict in comparison.judged
        if verdict.hint.score is not None and verdict.utilisation is not None
    ]


def _success(points: Sequence[tuple[float, float, Verdict]]) -> str:
    """The rate of what is drawn, as `80.0 % right: 4 of 5 regions`."""
    if not points:
        return "no region judged that has a score"
    right = sum(verdict.right is True for _, _, verdict in points)
    return f"{100 * right / len(points):.1f} % right: {right} of {plural(len(points), 'region')}"


def _x(share: float) -> float:
    return round(_LEFT + _SIZE * share, 1)


def _y(share: float) -> float:
    return round(_TOP + _SIZE * (1 - share), 1)


def _areas(count: int) -> list[str]:
    side = _SIZE / count
    parts = [
        f'<rect class="area" x="{_x(k / count)}" y="{_y((k + 1) / count)}" '
        f'width="{side:.1f}" height="{side:.1f}"/>'
        for k in range(count)
    ]
    for k in range(count + 1):
        share = k / count
        parts.append(
            f'<path class="grid" d="M{_x(share)} {_y(0)}V{_y(1)}M{_x(0)} {_y(share)}H{_x(1)}"/>'
        )
        parts.append(
            f'<text x="{_x(share)}" y="{_y(0) + 18}" text-anchor="middle">{100 * share:.0f}</text>'
        )
        parts.append(
            f'<text x="{_LEFT - 8}" y="{_y(share) + 4}" text-anchor="end">{100 * share:.0f}</text>'
        )
    middle = _LEFT + _SIZE / 2
    parts.append(f'<text x="{middle}" y="{_y(0) + 40}" text-anchor="middle">score (%)</text>')
    parts.append(
        f'<text transform="translate(16 {_TOP + _SIZE / 2}) rotate(-90)" text-anchor="middle">'
        "utilisation (%)</text>"
    )
    return parts


def _mark(x: float, y: float, verdict: Verdict) -> str:
    title = f"<title>{escape(verdict.hint.id)} {escape(verdict.hint.function)}</title>"
    if verdict.right is False:
        cx, cy = _x(x), _y(y)
        return f'<path class="wrong" d="M{cx} {cy - 5}l5 9h-10z">{title}</path>'
    return f'<circle class="right" cx="{_x(x)}" cy="{_y(y)}" r="4">{title}</circle>'


def _trend(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Intercept and slope of the least-squares line; None for fewer than two different scores.

    >>> _trend([(0.0, 0.25), (1.0, 0.75)])
    (0.25, 0.5)
    """
    if len({x for x, _ in points}) < 2:
        return None
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return mean_y - slope * mean_x, slope


def _trend_line(intercept: float, slope: float) -> str:
    ends = []
    for x in (0.0, 1.0):
        y = min(max(intercept + slope * x, 0.0), 1.0)
        at = x if not slope else min(max((y - intercept) / slope, 0.0), 1.0)
        ends.append(f"{_x(at)} {_y(y)}")
    return f'<path class="trend" d="M{ends[0]}L{ends[1]}"/>'
