"""Drawings of results: a result in, a figure out, and of that the bytes of a PNG, PDF or SVG.

Everything is drawn by matplotlib, which the extra `plot` brings; nothing else here imports it.
"""

from regionpredict.report.plots.canvas import FORMATS, figure_bytes

__all__ = ["FORMATS", "figure_bytes"]
