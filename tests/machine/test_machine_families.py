"""Processor families: every figure sourced, none that contradicts another or what was measured."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.machine import load, shipped_names
from regionpredict.machine.machines_folder import families_folder
from regionpredict.machine.processor import FIGURES
from regionpredict.machine.reader import GENERIC, Identity, family_names, family_of, load_family
from regionpredict.machine.reader.families import read_family

FAMILIES = {
    "core2",
    "nehalem",
    "sandybridge",
    "haswell",
    "skylake-sp",
    "icelake-sp",
    "sapphirerapids",
    "k10",
    "zen",
    "zen2",
    "zen3",
    "zen4",
    "zen5",
    "thunderx2",
    "neoverse-v2",
    "a64fx",
    "generic",
}
# What a generic core leaves to the shape of its node.
OF_THE_NODE = {
    "vector_registers",
    "loads_per_cycle",
    "memory_operations_per_cycle",
    "load_bytes_per_cycle",
}
LEAST = """\
name: mine
source: made up here
line: 64
page: 4 KiB
identity:
  - {vendor: GenuineIntel, family: 6, models: [85]}
ways: {1: 8, 2: 16}
issue_width: 4
"""


def test_these_families_are_there():
    assert set(family_names()) == FAMILIES


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_settles_every_figure_with_a_source(name):
    family = load_family(name)
    assert family.name == name
    missing = set(FIGURES) - set(family.figures)
    assert missing == (OF_THE_NODE if name == GENERIC else set())
    for figure in (family.line_bytes, family.page_bytes, *family.figures.values()):
        origin, source = figure.source.split(": ", 1)
        assert origin == ("default" if name == GENERIC else f"family {name}")
        assert len(source.split()) >= 2
    if name == GENERIC:
        assert {figure.evidence for figure in family.figures.values()} == {"assumed"}
        assert not family.identities


def test_no_processor_is_of_two_families():
    seen: dict[Identity, str] = {}
    for name in family_names():
        for identity in load_family(name).identities:
            assert seen.setdefault(identity, name) == name


@pytest.mark.parametrize(
    ("identity", "family"),
    [
        # CPUID of an L5320 (Clovertown) and an X7460 (Dunnington): InstLatx64 names the dumps so
        (Identity("GenuineIntel", 6, 0x0F), "core2"),
        (Identity("GenuineIntel", 6, 0x1D), "core2"),
        (Identity("GenuineIntel", 6, 0x2D), "sandybridge"),
        (Identity("GenuineIntel", 6, 0x4F), "haswell"),
        (Identity("GenuineIntel", 6, 0x55), "skylake-sp"),
        (Identity("GenuineIntel", 6, 0x6A), "icelake-sp"),
        (Identity("GenuineIntel", 6, 0x8F), "sapphirerapids"),
        (Identity("AuthenticAMD", 0x17, 0x01), "zen"),
        (Identity("AuthenticAMD", 0x17, 0x31), "zen2"),
        (Identity("AuthenticAMD", 0x19, 0x01), "zen3"),
        (Identity("AuthenticAMD", 0x19, 0x11), "zen4"),
        (Identity("AuthenticAMD", 0x1A, 0x02), "zen5"),
        (Identity("0x46", -1, 1), "a64fx"),
        (Identity("0x43", -1, 0xAF), "thunderx2"),
        (Identity("GenuineIntel", 6, 85000), GENERIC),
        (Identity("Nobody", 6, 85), GENERIC),
    ],
)
def test_an_identity_finds_its_family(identity, family):
    assert family_of(identity) == family


@pytest.mark.parametrize("name", sorted(shipped_names()))
def test_a_shipped_machine_names_its_family(name):
    machine = load(name)
    assert machine.processor.family in FAMILIES - {GENERIC}
    assert "processor.family" not in machine.defaulted


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        # "Four instructions a cycle since 2006" does not hold of these three
        ("icelake-8360y", "issue_width", 5),  # WikiChip, Sunny Cove
        ("sapphirerapids-8470", "issue_width", 6),  # Intel Architecture Day 2021
        ("epyc-9654", "issue_width", 6),  # AMD 57647
        ("epyc-7451", "issue_width", 5),  # Agner Fog on Ryzen, 2017: five
        ("skylake-gold-6148", "issue_width", 4),
        # 16 with SSE and AVX; 32 with AVX-512 and on AArch64, however narrow the vectors
        ("broadwell-e5-2697v4-cod", "vector_registers", 16),
        ("epyc-9654", "vector_registers", 32),
        ("thunderx2", "vector_registers", 32),
        # Golden Cove's fill buffers, from 12
        ("sapphirerapids-8470", "outstanding_misses", 16),
        ("icelake-8360y", "outstanding_misses", 12),
        ("sandybridge-e5-2680", "outstanding_misses", 10),
    ],
)
def test_figures_of_the_vendors(name, key, value):
    assert getattr(load(name).processor, key).value == value


def test_lines_and_pages_of_the_a64fx():
    machine = load("a64fx")
    assert (machine.line_bytes, machine.page_bytes) == (256, 64 * 1024)
    assert {cache.line_bytes.evidence for cache in machine.caches} == {"measured"}
    # 64 KiB in 64 sets of 4 lines, 8 MiB in 2048 sets of 16
    assert [cache.associativity.whole for cache in machine.caches] == [4, 16]
    assert (load("clovertown").line_bytes, load("clovertown").page_bytes) == (64, 4096)


@pytest.mark.parametrize("name", sorted(shipped_names()))
def test_ports_take_what_was_measured_and_not_much_more(name):
    # One core's load kernel of kerncraft, at the nominal clock (turbo off): at most what the ports
    # of its family take, and at least 80 % of it where the kernel is vectorised to their width.
    machine = load(name)
    ports = machine.processor.load_bytes_per_cycle.value
    table = machine.caches[0].bandwidth.get("load")
    if table is None:
        return
    measured = table.at(1) / machine.clock_hz
    assert measured <= 1.01 * ports
    if name not in ("thunderx2", "a64fx"):  # a scalar kernel; a load that waits for its address
        assert measured >= 0.8 * ports


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("line: 64\n", "", "mine.yaml:1: 'line' is missing in the family"),
        ("issue_width: 4", "isue_width: 4", "unknown key 'isue_width' in the file; did you mean"),
        ("issue_width: 4", "issue_width: 4.5", "issue_width must be a whole number"),
        ("issue_width: 4", "issue_width: 0", "issue_width must be above 0"),
        ("source: made up here\n", "", "has no source"),
        ("models: [85]", "models: [x]", "'x' is not a number in identity[0].models[0]"),
        ("models: [85]", "modls: [85]", "unknown key 'modls' in identity[0]"),
        ("{1: 8, 2: 16}", "{2: 16}", "ways begins at 2"),
    ],
)
def test_a_wrong_family_is_told_its_line_and_key(old, new, said):
    assert old in LEAST
    with pytest.raises(InputError, match=re.escape(said)):
        read_family(LEAST.replace(old, new), "mine.yaml")


@given(st.integers(0, len(LEAST) - 1), st.integers(0, 12), st.text(max_size=8))
@settings(max_examples=200, deadline=None)
def test_however_a_family_is_damaged_it_loads_or_gets_one_line(place, length, junk):
    text = LEAST[:place] + junk + LEAST[place + length :]
    try:
        family = read_family(text, "mine.yaml")
    except InputError as error:
        assert "\n" not in str(error)
        assert str(error).startswith("mine.yaml")
    else:
        assert family.line_bytes.value > 0


def test_the_files_say_nothing_of_where_they_were_written():
    for path in families_folder().glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert "/work" not in text
        assert "shared/" not in text
        assert path.stem == re.search(r"^name: (.*)$", text, re.M)[1]
