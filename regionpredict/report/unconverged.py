"""Reports the figures of a machine that did not converge."""

from __future__ import annotations

from typing import Any

from regionpredict.machine import Machine, unconverged_figures
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import several
from regionpredict.report.quantities import plural

_SHOWN = 3


def convergence_sentence(machine: Machine) -> list[str]:
    """Returns a sentence with the least certain figures. Empty if all figures converged."""
    wide = unconverged_figures(machine)
    if not wide:
        return []
    named = [f"{unconverged.key} ({_spread_text(unconverged.spread)})" for unconverged in wide]
    return [
        f"{plural(len(wide), 'figure')} of {machine.name} did not converge: "
        f"{several(named, _SHOWN)}; recalibrate on an idle host"
    ]


def _spread_text(spread: float) -> str:
    return f"±{100 * spread:.0f} %" if spread <= 1 else "over ±100 %"


def unconverged_record(machine: Machine) -> list[dict[str, Any]]:
    """Returns the figures that did not converge, for hints in JSON."""
    return [fields_of(own, "spread", figure="key") for own in unconverged_figures(machine)]
