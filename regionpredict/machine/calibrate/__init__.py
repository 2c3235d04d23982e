"""Microbenchmarks in C that fill in a machine model of this host.

Door: `calibrate(topology, ...) -> Calibration`; `regionpredict.machine.writer.write` makes the
machine file of it.
"""

from __future__ import annotations

from regionpredict.machine.calibrate.run import Calibration, Progress, calibrate

__all__ = ["Calibration", "Progress", "calibrate"]
