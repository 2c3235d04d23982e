"""No workload of the samples contradicts itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, region_workload
from regionpredict.workload.verify import verify

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CACHES = [1 << power for power in range(13, 27, 4)]
TEAMS = (1, 2, 3, 7, 64)


@pytest.mark.parametrize("folder", ["polybench_samples", "npb_samples"])
def test_the_samples_do_not_contradict_themselves(folder: str) -> None:
    machine = load("dunnington")
    for facts in analyse(requests_for((str(ROOT / folder),)), {}).facts:
        verify(region_workload(facts, machine), threads=TEAMS, caches=CACHES)
