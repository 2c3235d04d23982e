"""Models and their points as SVG, without a plotting library."""

from __future__ import annotations

from html import escape

import numpy as np

from regionpredict.fit.search.experiment_models import ModelSet

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 60
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")


def models_svg(models: ModelSet, limit: int = 6) -> str:
    """A drawing of at most `limit` models of one parameter, on logarithmic axes.

    Models of several parameters are left out; where nothing can be drawn, the drawing says so.
    """
    drawn = [item for item in models.models if len(item[1].parameters) == 1][:limit]
    drawn = [
        item for item in drawn if item[1].points.min() > 0 and item[1].observations.y.min() > 0
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="11">'
    )
    if not drawn:
        return f'{head}<text x="20" y="30">no model of one parameter to draw</text></svg>\n'
    low = min(float(m.points.min()) for _, m in drawn)
    high = 4 * max(float(m.points.max()) for _, m in drawn)
    grid = np.geomspace(low, high, 80)
    curves = [m.predict_many(grid[:, None]) for _, m in drawn]
    seen = np.concatenate([*curves, *(m.observations.y for _, m in drawn)])
    seen = seen[seen > 0]
    bottom, top = float(seen.min()), float(seen.max()) * 1.01

    def x(value: float) -> float:
        share = np.log(value / low) / np.log(high / low)
        return _MARGIN + float(share) * (_WIDTH - 2 * _MARGIN)

    def y(value: float) -> float:
        share = np.log(max(value, bottom) / bottom) / np.log(top / bottom)
        return _HEIGHT - _MARGIN - float(share) * (_HEIGHT - 2 * _MARGIN)

    parts = [head]
    for step in np.geomspace(low, high, 5):
        parts.append(
            f'<text x="{x(step):.1f}" y="{_HEIGHT - _MARGIN + 18}" text-anchor="middle">'
            f"{step:.3g}</text>"
        )
    for step in np.geomspace(bottom, top, 5):
        parts.append(
            f'<text x="{_MARGIN - 6}" y="{y(step):.1f}" text-anchor="end">{step:.3g}</text>'
        )
    name = escape(drawn[0][1].parameters[0])
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 14}" text-anchor="middle">{name}</text>')
    for k, ((series, model), curve) in enumerate(zip(drawn, curves, strict=True)):
        colour = _COLOURS[k % len(_COLOURS)]
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(grid, curve, strict=True))
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{path}"/>')
        parts.extend(
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>'
            for a, b in zip(model.points[:, 0], model.observations.y, strict=True)
        )
        label = escape(f"{series.callpath} {series.metric}: {model.formula()}".strip())
        parts.append(f'<text x="{_MARGIN}" y="{16 + 14 * k}" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
