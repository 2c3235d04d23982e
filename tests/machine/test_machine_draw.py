"""The drawing of a node: inside 80 columns, with its packages, domains and caches."""

from __future__ import annotations

import pytest

from regionpredict.machine import load, shipped_names
from regionpredict.machine.draw import draw
from regionpredict.report.machine import machine_document
from regionpredict.report.rendered import rendered


@pytest.mark.parametrize("name", shipped_names())
def test_every_drawing_fits_80_columns_and_closes_its_brackets(name):
    machine = load(name)
    text = rendered(machine_document(machine), "table")
    assert all(len(line) <= 80 for line in text.splitlines())
    drawing = draw(machine)
    assert drawing.count("[") == drawing.count("]")
    for package in range(machine.packages):
        assert f"package {package}" in drawing
    for cache in machine.caches:
        assert f"L{cache.level}" in drawing


def test_clovertown_draws_two_dual_core_dies():
    lines = draw(load("clovertown")).splitlines()
    l1 = next(line for line in lines if "[" in line and "L1" in line)
    l2 = next(line for line in lines if "[" in line and "L2" in line)
    assert (l1.count("["), l2.count("[")) == (4, 2)
    assert sum("core 0" in line and "core 3" in line for line in lines) == 1
    assert any("one memory path for all packages: 7.7 GB/s" in line for line in lines)
    assert any("package 1: cores 4-7, the same" in line for line in lines)


def test_domains_are_drawn_once_and_named_after():
    drawing = draw(load("epyc-7451"))
    assert "NUMA domain 0: cores 0-5" in drawing
    assert "NUMA domain 3: cores 18-23, the same" in drawing
    # three cores to an L3, two of them in a domain of six
    row = next(line for line in drawing.splitlines() if "[" in line and "L3" in line)
    assert row.count("[") == 2


def test_large_domains_are_shortened():
    drawing = draw(load("epyc-9654"))
    assert "core 95" in drawing
    assert "core 50" not in drawing
    assert "..." in drawing


def test_key_figures_carry_their_evidence():
    text = rendered(machine_document(load("skylake-gold-6148")), "table")
    for part in (
        "L3 size",
        "27.5 MiB",
        "memory load",
        "14.3 -> 118 GB/s on 20",
        "measured",
        "assumed",
    ):
        assert part in text
