"""Draws results as figures, and writes them as PNG, PDF or SVG.

All figures use matplotlib, from the extra `plot`. Only this folder imports it.
"""

from regionpredict.report.plots.canvas import FORMATS, figure_bytes

__all__ = ["FORMATS", "figure_bytes"]
