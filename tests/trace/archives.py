"""OTF2 archives written for tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from synthetic_trace import write_archive

__all__ = ["write_archive"]
