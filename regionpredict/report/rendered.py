"""Renders documents in the requested format."""

from __future__ import annotations

from regionpredict.report.document import Document
from regionpredict.report.document_text import document_csv, document_markdown, document_text
from regionpredict.report.html.page import document_page


def rendered(document: Document, form: str) -> str:
    """The document as `html`, `csv` or `markdown`, by default as text."""
    if form == "html":
        return document_page(document)
    if form == "markdown":
        return document_markdown(document)
    return document_csv(document) if form == "csv" else document_text(document)
