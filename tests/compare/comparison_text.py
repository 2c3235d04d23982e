"""What a comparison shows on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.compare.empirical import FittedLaw
from regionpredict.compare.verdicts import Comparison
from regionpredict.report.comparison import comparison_document
from regionpredict.report.rendered import rendered


def shown_words(comparison: Comparison, laws: Sequence[FittedLaw] = ()) -> str:
    """The words of the text, one space apart."""
    return " ".join(rendered(comparison_document(comparison, laws), "table").split())
