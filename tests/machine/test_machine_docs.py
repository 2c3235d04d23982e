"""What docs/machines.md shows is true: its example loads, its formulas are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from regionpredict.machine import load, shipped_names
from regionpredict.machine.check import check
from regionpredict.machine.reader import read

TEXT = (Path(__file__).parents[2] / "docs" / "machines.md").read_text(encoding="utf-8")


def test_the_example_of_30_lines_loads_without_errors():
    example = re.search(r"```yaml\n(.*?)```", TEXT, re.S)
    assert example is not None
    assert len(example[1].splitlines()) <= 30
    machine = read(example[1], "docs/machines.md")
    assert [f for f in check(machine) if f.severity in ("error", "warning")] == []
    assert machine.cores == 36
    assert machine.memory.latency_cycles.source.startswith("likwid-bench")


def test_every_shipped_machine_is_in_the_table_of_sources():
    for name in shipped_names():
        assert f"`{name}`" in TEXT or f"`{name.removesuffix('-snc')}`, `-snc`" in TEXT


def test_the_formulas_of_openmps_costs():
    # Dunnington: L3 of 100 cycles shared by the package, so t = 140
    overheads = load("dunnington").overheads
    assert overheads.barrier.at(8) == 140 * (8 + 4)
    assert overheads.barrier.at(1) == 50
    assert overheads.fork_join.at(8) == 500 + 1.5 * 140 * 12
    assert overheads.fork_join.at(1) == 575
    assert overheads.atomic.at(24) == 140 * 24
    assert overheads.reduction.at(24) == 140 * 24
    assert overheads.dynamic_chunk.at(4) == 20 + 140 * 4
    assert overheads.dynamic_chunk.at(1) == 40
    assert overheads.critical.at(4) == 3 * 140 * 4
    # Clovertown shares no cache: t is the latency of memory, 126 ns at 1.86 GHz
    assert abs(load("clovertown").overheads.barrier.at(8) - 234.36 * 12) < 1e-6
