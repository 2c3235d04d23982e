"""Drawings of fitted models: models and options in, the bytes of a PNG, PDF or SVG out.

Everything is drawn by matplotlib, which the extra `plot` brings; nothing else here imports it.
"""

from regionpredict.report.plots.canvas import FORMATS, figure_bytes
from regionpredict.report.plots.curves import curves_figure
from regionpredict.report.plots.maps import contour_figure, surface_figure
from regionpredict.report.plots.shares import shares_figure

__all__ = [
    "FORMATS",
    "contour_figure",
    "curves_figure",
    "figure_bytes",
    "shares_figure",
    "surface_figure",
]
