"""Names with a prime, in words: `n'` is the `n` of another function than the region's own.

n' is the n of main (cg.c:35), given as main:n
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.analysis.given_sizes import name_at_home
from regionpredict.predict import Prediction

_SHOWN = 6


def other_names(predictions: Sequence[Prediction], text: str) -> list[str]:
    """A line for each name with a prime that `text` has, and each variable that it means."""
    lines: dict[str, None] = {}
    for prediction in predictions:
        for other in prediction.facts.region.others:
            if re.search(rf"(?<![\w']){re.escape(other.name)}(?![\w'])", text):
                function = f" of {other.function}" if other.function else ""
                own = other.name.rstrip("'")
                place = f"{other.span.file}:{other.span.line}"
                at_home = name_at_home(prediction.facts.region, other.name)
                asked = other.name in prediction.unbound and at_home
                given = f", given as {at_home}" if asked else ""
                lines[f"{other.name} is the {own}{function} ({place}){given}"] = None
    told = list(lines)
    more = [f"... and {len(told) - _SHOWN} more names"] if len(told) > _SHOWN else []
    return told[:_SHOWN] + more
