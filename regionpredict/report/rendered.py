"""Renders documents in the requested format."""

from __future__ import annotations

from regionpredict.report.document import Document
from regionpredict.report.document_text import document_csv, document_markdown, document_text
from regionpredict.report.html.page import document_page
from regionpredict.report.json_text import as_json


def rendered(document: Document, form: str) -> str:
    """Renders the document as `html`, `json`, `csv` or `markdown`, by default as text."""
    if form == "json":
        return as_json(document.record())
    if form == "html":
        return document_page(document)
    if form == "markdown":
        return document_markdown(document)
    return document_csv(document) if form == "csv" else document_text(document)
