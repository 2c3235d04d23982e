"""Microbenchmarks in C that measure a machine model of this host.

Entry point: `calibrate(topology, ...) -> Calibration`. `regionpredict.machine.writer.write` writes
the machine file from the result.
"""

from __future__ import annotations

from regionpredict.machine.calibrate.run import Calibration, Progress, calibrate

__all__ = ["Calibration", "Progress", "calibrate"]
