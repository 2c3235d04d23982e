"""The region whose times the tests make up."""

from __future__ import annotations

import pytest
from made_times import MACHINE, TEXT
from round_machine import workload_of_text

from regionpredict.workload import Workload


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A loop that gathers from `x`: of its lines none is foreseen."""
    return workload_of_text(tmp_path_factory.mktemp("text"), TEXT, MACHINE, n=1000)
