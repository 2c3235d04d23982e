"""Explains names with a prime: `x'` is the `x` of another function.

x' is the x of scale (cg.c:35)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.analysis.given_sizes import qualified_name
from regionpredict.predict import Prediction
from regionpredict.report.names import first_of

_SHOWN = 6


def other_names(predictions: Sequence[Prediction], text: str) -> list[str]:
    """Returns a line for each name with a prime in `text`, and for each variable with that name."""
    lines: dict[str, None] = {}
    for prediction in predictions:
        primed = [other for other in prediction.facts.region.others if other.name.endswith("'")]
        for other in primed:
            if re.search(rf"(?<![\w']){re.escape(other.name)}(?![\w'])", text):
                function = f" of {other.function}" if other.function else ""
                place = f"{other.span.file}:{other.span.line}"
                at_home = qualified_name(prediction.facts.region, other.name)
                asked = other.name in prediction.unbound and at_home
                given = f", given as {at_home}" if asked else ""
                lines[f"{other.name} is the {other.plain}{function} ({place}){given}"] = None
    return first_of(list(lines), _SHOWN, "more names")
