"""A result in, one HTML file out: a file a kind of result, each with one function.

A page holds its data once, as JSON, and draws them itself; it asks no network for anything and
holds no other project's code. `page.py` puts it together from `page.html`, `page.css`, `draw.js`
and `page.js`; what it shows are blocks (`blocks.py`), each drawn by the function of its kind.
"""
