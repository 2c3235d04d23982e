"""A result in, one HTML file out: `prediction_page`, `comparison_page`, `trace_page`.

A page holds its data once, as JSON, and draws them itself; it asks no network for anything and
holds no other project's code. `page.py` puts it together from `page.html`, `page.css`, `draw.js`
and `page.js`; what it shows are blocks (`blocks.py`), each drawn by the function of its kind.
"""

from regionpredict.report.html.comparison import comparison_page
from regionpredict.report.html.predictions import ProgramResult, prediction_page
from regionpredict.report.html.trace import trace_page

__all__ = ["ProgramResult", "comparison_page", "prediction_page", "trace_page"]
