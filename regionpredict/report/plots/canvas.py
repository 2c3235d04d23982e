"""Defines common parts of all figures: size, colors, axes and file formats.

The colors are those of Okabe and Ito 2008, "Color Universal Design", which people with color vision
deficiency can distinguish. Models also differ in markers and dashes, so gray prints are readable.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regionpredict.errors import UsageError, one_line, with_extra
from regionpredict.fit.model.terms import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
COLOUR_MAP = "cividis"
"""The color map for values over two parameters. It has uniform lightness, also for color-blind
readers (Nuñez, Anderton and Renslow 2018).
"""
MAX_DRAWN = 1e100
"""The largest drawn value. Near the largest doubles, matplotlib shows no tick labels."""
_WIDTH_IN, _HEIGHT_IN, _DPI = 5.0, 3.4, 200
_TICKS = (1.0, 2.0, 5.0)


def new_figure(width: float = _WIDTH_IN, height: float = _HEIGHT_IN) -> Figure:
    """Returns an empty figure of this size in inches. `UsageError`: matplotlib is missing."""
    try:
        from matplotlib.figure import Figure as NewFigure
    except ImportError:
        raise UsageError("drawing needs matplotlib", remedy=with_extra("plot")) from None
    return NewFigure(figsize=(width, height), layout="constrained")


def style_axes(axes: Axes, *, grid: Literal["both", "x", "y"] | None = "both") -> None:
    """Sets the style of axes: a light grid, two frame lines, small tick labels."""
    axes.set_axisbelow(True)
    if grid is not None:
        axes.grid(visible=True, axis=grid, color="0.9", linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(9)


def legend_below(figure: Figure, columns: int) -> None:
    """Adds a legend below the axes, where it covers no data."""
    figure.legend(loc="outside lower center", ncols=columns, fontsize=7.5, frameon=False)


def plain(text: str, longest: int = 60) -> str:
    """Converts a text to a label: one line, shortened, without formula markup, and visible.

    >>> plain("a$b"), plain("_x"), plain("abcdef", 5)
    ('a\\\\$b', 'x', 'ab...')
    """
    line = one_line(text)
    cut = line if len(line) <= longest else line[: longest - 3] + "..."
    return cut.replace("$", r"\$").lstrip("_") or "-"


def figure_bytes(figure: Figure, form: str) -> bytes:
    """Encodes the figure as `png`, `pdf` or `svg`. The same figure always gives the same bytes."""
    import matplotlib

    if form not in FORMATS:
        raise UsageError(f"no drawing can be '{form}'", remedy=f"use {', '.join(FORMATS)}")
    undated: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "svg": {"Date": None, "Creator": None},
    }
    out = io.BytesIO()
    settings: Any = {"svg.hashsalt": "regionpredict", "pdf.fonttype": 42, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        figure.savefig(out, format=form, dpi=_DPI, metadata=undated[form])
    return out.getvalue()


def scale_axis(axes: Axes, which: str, values: FloatArray, measured: Sequence[float]) -> None:
    """Makes an axis logarithmic if its positive values span a factor of 8 or more.

    Ticks of a parameter are at the measured values, and at round numbers beyond them.
    """
    positive = bool((values > 0).all()) and values.max() >= 8 * values.min()
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not positive:
        return
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    low, high = float(values.min()), float(values.max())
    ticks = list(measured) if measured else _round_ticks(low, high)
    if measured and high > max(measured):
        ticks += [t for t in _round_ticks(low, high) if t > 1.9 * max(measured)]
    ticks = _spaced_ticks(sorted(set(ticks)), low, high)
    axis.set_ticks(ticks, [tick_text(t) for t in ticks])
    axis.set_ticks([], minor=True)


def tick_text(value: float) -> str:
    """Formats a number as a tick label: short, with a power of ten if it is very large or small.

    >>> tick_text(0.5), tick_text(1024.0), tick_text(2e6), tick_text(1e-7)
    ('0.5', '1024', '$2\\\\cdot10^{6}$', '$10^{-7}$')
    """
    if 1e-3 <= abs(value) < 1e5 or not value:
        return f"{value:.6g}"
    exponent = int(np.floor(np.log10(abs(value)) + 1e-9))
    mantissa = f"{value / 10**exponent:.3g}"
    return f"$10^{{{exponent}}}$" if mantissa == "1" else f"${mantissa}\\cdot10^{{{exponent}}}$"


def _round_ticks(low: float, high: float) -> list[float]:
    """Returns 1, 2 and 5 times powers of ten, or only the powers if the range is wide."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    wide = np.log10(high / low) > 3
    factors = (1.0,) if wide else _TICKS
    ticks = [f * 10.0**e for e in range(first, last + 1) for f in factors]
    return [t for t in ticks if low * 0.999 <= t <= high * 1.001]


def _spaced_ticks(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Returns the ticks that are at least an eleventh of the axis from each other."""
    least = np.log(high / low) / 11
    kept: list[float] = []
    for tick in ticks:
        if not kept or np.log(tick / kept[-1]) >= least:
            kept.append(tick)
    return kept
