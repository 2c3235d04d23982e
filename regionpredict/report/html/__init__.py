"""Writes a result as one HTML file.

A page contains its data once, as JSON, and draws them with its own script. It makes no network
requests and contains no third-party code. `page.py` combines `page.html`, `page.css`, `draw.js` and
`page.js`. The content consists of blocks (`blocks.py`), each drawn by the function for its kind.
"""
