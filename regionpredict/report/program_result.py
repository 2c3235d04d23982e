"""The result of `predict` for outputs about the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import (
    NOTHING_RECOMMENDED,
    Plan,
    Prediction,
    Recommended,
    TeamPrediction,
)
from regionpredict.predict.program_advice import ByTeam
from regionpredict.report.run_settings import DEFAULT_SETTINGS, RunSettings


class ProgramResult(NamedTuple):
    """The result of a prediction for a whole program. `notes` concern the whole program, for
    example loops that are not regions. `arguments` are those of the program.
    """

    predictions: Sequence[Prediction]
    teams: Sequence[TeamPrediction]
    plans: Sequence[Plan]
    machine: Machine
    model: str
    advice: ByTeam = MappingProxyType({})
    run: RunSettings = DEFAULT_SETTINGS
    notes: Sequence[Diagnostic] = ()
    recommended: Recommended = NOTHING_RECOMMENDED
    arguments: str = ""

    @property
    def spent(self) -> float | None:
        """Returns the seconds of the recommended run."""
        together = self.recommended.together
        return None if together is None else together.seconds
