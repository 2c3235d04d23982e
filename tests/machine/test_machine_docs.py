"""What docs/machines.md shows is true: its example loads, its formulas are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from regionpredict.machine import load, shipped_names
from regionpredict.machine.check import check
from regionpredict.machine.processor import FIGURES
from regionpredict.machine.reader import family_names, load_family, read

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
    assert overheads.barrier.at(4) == 140 * (4 + 4)
    assert overheads.barrier.at(1) == 50
    assert overheads.fork_join.at(4) == 500 + 1.5 * 140 * 8
    assert overheads.fork_join.at(1) == 575
    assert overheads.atomic.at(6) == 140 * 6
    assert overheads.reduction.at(6) == 140 * 6
    # the tables end with the package: threads of others add the way of lines, memory's latency
    assert overheads.barrier.x[-1] == overheads.reduction.x[-1] == 6
    assert overheads.far_line.value == load("dunnington").memory.latency_cycles.value
    assert overheads.dynamic_chunk.at(4) == 20 + 140 * 4
    assert overheads.dynamic_chunk.at(1) == 40
    assert overheads.critical.at(4) == 3 * 140 * 4
    # Clovertown shares no cache: t is the latency of memory, 126 ns at 1.86 GHz
    assert abs(load("clovertown").overheads.barrier.at(4) - 234.36 * 8) < 1e-6


def family_row(name: str) -> str:
    """The row of a family in the page's table, but for its description and sources."""
    family = load_family(name)

    def shown(key: str) -> str:
        figure = family.figures.get(key)
        return "?" if figure is None else f"{figure.value:g}"

    def ports(kind: str) -> str:
        return f"{shown(f'{kind}s_per_cycle')} x {shown(f'{kind}_bytes_per_cycle')} B"

    pipes = f"{shown('fp_pipes')} ({shown('fp_add_pipes')}, {shown('fp_mul_pipes')})"
    line, page = family.line_bytes.whole, family.page_bytes.whole // 1024
    cells = [
        shown("issue_width"),
        f"{shown('vector_registers')}, {shown('general_registers')}",
        f"{ports('load')}, {ports('store')}",
        pipes,
        shown("outstanding_misses"),
        f"{line} B, {page} KiB",
    ]
    return " | ".join(cells)


def test_the_table_of_families_is_that_of_their_files():
    rows = {
        cells[1].strip(" `"): " | ".join(cell.strip() for cell in cells[3:9])
        for line in TEXT.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) == 11
    }
    assert rows == {name: family_row(name) for name in family_names()}


def test_every_figure_of_a_core_is_in_the_page():
    for key in FIGURES:
        assert re.search(rf"^\| .*`{key}`", TEXT, re.M), key
