"""Describes recommended source changes as sentences.

1.5x: start its threads once, in a parallel around the loop at line 42 (RP205)
"""

from __future__ import annotations

from regionpredict.predict import Advice
from regionpredict.predict.program_advice import ProgramAdvice


def advice_sentence(advice: Advice | ProgramAdvice) -> str:
    """Describes a recommended change, such as `1.5x: write collapse(2) (RP203)`."""
    return f"{advice.gain:.1f}x: {advice.message} ({advice.id})"
