"""The schema of machine files: what loads, and what every wrong file is told."""

from __future__ import annotations

import hashlib
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.errors import InputError
from regionpredict.machine import load
from regionpredict.machine.processor import FIGURES
from regionpredict.machine.reader import read

GOOD = """\
name: mynode
description: 2 x Something, 18 cores a package
source: data sheet and lscpu
node:
  packages: 2
  cores_per_package: 18
  numa_domains_per_package: 2
  clock: 2.5 GHz
  simd: 256
caches:
  - {level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 4}
  - {level: 2, size: 256 KiB, ways: 8, cores: 1, latency: 12}
  - {level: 3, size: 22.5 MiB, ways: 20, cores: 9, latency: 50}
memory:
  latency: 90 ns
  bandwidth:
    load: {1: 11.2, 4: 34.0, 9: 35.0}
operations:
  fp_add: {latency: 3, throughput: 1}
  fp_mul: {latency: {assumed: 5, source: as the older part}, throughput: 0.5}
"""


def test_a_machine_of_twenty_lines_loads_with_units_and_labels():
    machine = read(GOOD, "m.yaml")
    assert len(GOOD.splitlines()) <= 30
    assert (machine.packages, machine.cores, machine.domains, machine.cores_per_domain) == (
        2,
        36,
        4,
        9,
    )
    assert machine.clock_hz == 2.5e9
    assert machine.largest_cache_bytes == 22.5 * 1024**2
    # 90 ns at 2.5 GHz
    assert machine.memory.latency_cycles.value == 225.0
    assert machine.memory.bandwidth["load"].at(4) == 34.0e9
    assert machine.operation("fp_add").latency_cycles.evidence == "measured"
    assert machine.operation("fp_add").latency_cycles.source == "data sheet and lscpu"
    mul = machine.operation("fp_mul").latency_cycles
    assert (mul.value, mul.evidence, mul.source) == (5.0, "assumed", "as the older part")
    assert "operations.fp_div" in machine.defaulted
    assert machine.operation("fp_div").latency_cycles.evidence == "assumed"
    # two instructions where none is fused: 3 + 5 and 1 + 0.5
    fma = machine.operation("fp_fma")
    assert (fma.latency_cycles.value, fma.throughput_cycles.value) == (8.0, 1.5)


def test_a_machine_can_be_sent_to_another_process():
    machine = read(GOOD, "m.yaml")
    assert pickle.loads(pickle.dumps(machine)) == machine


def test_the_checksum_is_of_the_files_bytes(tmp_path):
    path = tmp_path / "crlf.yaml"
    content = GOOD.replace("\n", "\r\n").encode()
    path.write_bytes(content)
    assert load(path).sha256 == hashlib.sha256(content).hexdigest()


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "part", "said"),
    [
        (
            "size: 256 KiB, ways: 8, cores",
            "size: 256 KiB, ways: 8, coers",
            "coers",
            "unknown key 'coers' in caches[1]; did you mean 'cores'?",
        ),
        ("packages: 2\n", "packges: 2\n", "packges", "unknown key 'packges' in node; did you mean"),
        ("  simd: 256", "  simd: 256\n  simd: 512", "simd: 512", "key 'simd' occurs twice in node"),
        ("clock: 2.5 GHz", "clock: 2.5 GB", "clock", "'2.5 GB' has the unit 'GB', not Hz, kHz"),
        ("clock: 2.5 GHz", "clock: 2.5", "clock", "a clock of 2.5 Hz"),
        (
            "clock: 2.5 GHz",
            "clock: 2.5 GHz\n  turbo: {1: 3 GHz, 19: 2.6 GHz}",
            "turbo",
            "a clock of 19 cores, but a package has 18",
        ),
        ("clock: 2.5 GHz", "clock: fast", "clock", "'fast' is not a number in node.clock"),
        ("clock: 2.5 GHz", "clock: -1 GHz", "clock", "node.clock must be above 0"),
        ("clock: 2.5 GHz", "clock: .nan", "clock", "is not a number"),
        ("clock: 2.5 GHz", "clock:", "clock", "node.clock must be a single value"),
        ("packages: 2\n", "packages: 2.5\n", "packages: 2.5", "must be a whole number"),
        (
            "numa_domains_per_package: 2",
            "numa_domains_per_package: 4",
            "numa",
            "18 cores do not divide into 4 NUMA domains",
        ),
        ("{1: 11.2, 4: 34.0, 9: 35.0}", "{2: 11.2, 4: 34.0}", "load:", "begins at 2"),
        (
            "{1: 11.2, 4: 34.0, 9: 35.0}",
            "{1: 11.2, 4: 34.0, 3: 35.0}",
            "load:",
            "3 comes after 4 in memory.bandwidth.load",
        ),
        (
            "{1: 11.2, 4: 34.0, 9: 35.0}",
            "{1: 11.2, 12: 34.0}",
            "load:",
            "goes to 12 cores, but a NUMA domain has 9",
        ),
        ("{1: 11.2, 4: 34.0, 9: 35.0}", "{one: 11.2}", "load:", "'one' in memory.bandwidth.load"),
        ("{1: 11.2, 4: 34.0, 9: 35.0}", "35", "load:", "must be a table by count"),
        ("    load:", "    laod:", "laod", "did you mean 'load'?"),
        ("cores: 9,", "cores: 19,", "cores: 19", "19 cores share caches[2], but a package has 18"),
        ("level: 3", "level: 4", "level: 4", "caches[2] is level 4, not 3"),
        ("level: 2", "level: 2, policy: victm", "victm", "did you mean 'victim'?"),
        ("as the older part", "elsewhere", "elsewhere", "unknown source 'elsewhere'"),
        ("{assumed: 5,", "{asumed: 5,", "asumed", "must be a single value"),
        ("fp_add:", "fp_ad:", "fp_ad:", "did you mean 'fp_add'?"),
        ("memory:\n", "memory: {latency: 3\n", "bandwidth", "not YAML"),
        ("source: data sheet and lscpu\n", "", "packages", "node.packages has no source"),
        (
            "memory:\n",
            "processor: {family: skylake}\nmemory:\n",
            "skylake",
            "no processor family is called 'skylake'; did you mean 'skylake-sp'?",
        ),
        (
            "memory:\n",
            "processor: {isue_width: 4}\nmemory:\n",
            "isue_width",
            "unknown key 'isue_width' in processor; did you mean 'issue_width'?",
        ),
        (
            "memory:\n",
            "processor: {fp_pipes: 1.5}\nmemory:\n",
            "fp_pipes",
            "processor.fp_pipes must be a whole number",
        ),
        (
            "memory:\n",
            "processor: {write_allocate: -1}\nmemory:\n",
            "write_allocate",
            "processor.write_allocate must be above",
        ),
        (
            "memory:\n",
            "memory:\n  write_allocate: {1: 1, 9: 1.2}\n",
            "write_allocate",
            "1.2 of the lines that a store misses; give shares from 0 to 1",
        ),
        (
            "    load: {1: 11.2, 4: 34.0, 9: 35.0}\n",
            "    source: data sheet again\n",
            "bandwidth",
            "memory.bandwidth names no kernel",
        ),
    ],
)
def test_a_wrong_file_is_told_its_line_and_key(old, new, part, said):
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(InputError) as caught:
        read(text, "m.yaml")
    assert said in str(caught.value)
    assert caught.value.path == "m.yaml"
    assert caught.value.line is not None
    if "YAML" not in said and "names no kernel" not in said:
        assert caught.value.line == line_of(text, part)


def test_the_error_line_reads_as_one_sentence():
    text = GOOD.replace("ways: 8, cores: 1, latency: 12", "ways: 8, coers: 1, latency: 12")
    with pytest.raises(InputError) as caught:
        read(text, "m.yaml")
    assert str(caught.value) == (
        "m.yaml:12: unknown key 'coers' in caches[1]; did you mean 'cores'?"
    )


@pytest.mark.parametrize("section", ["name", "node", "caches", "memory"])
def test_a_missing_section_is_named(section):
    lines = GOOD.splitlines(keepends=True)
    kept, inside = [], False
    for line in lines:
        if not line.startswith(" "):
            inside = line.startswith(f"{section}:")
        if not inside:
            kept.append(line)
    with pytest.raises(InputError, match=f"'{section}' is missing in the file"):
        read("".join(kept), "m.yaml")


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "- 1\n- 2\n", "just words\n", "a: &a [*a]\n", "\0"]
)
def test_what_is_no_machine_at_all_gets_one_line(text):
    with pytest.raises(InputError) as caught:
        read(text, "m.yaml")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match="no such machine file"):
        load(tmp_path / "none.yaml")
    (tmp_path / "bin.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        load(tmp_path / "bin.yaml")
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(InputError, match="did you mean 'clovertown'"):
        load("clovertwon")
    with pytest.raises(InputError, match="did you mean 'skylake"):
        load("skylakes")


@pytest.mark.parametrize("count", ["1000000", "1e300"])
def test_a_node_that_nobody_has_is_refused(count):
    with pytest.raises(InputError, match="a node of"):
        read(GOOD.replace("packages: 2", f"packages: {count}"), "m.yaml")


def test_a_cache_that_nobody_has_is_refused():
    with pytest.raises(InputError, match="a cache of"):
        read(GOOD.replace("22.5 MiB", "2000 GiB"), "m.yaml")


def test_a_weight_given_in_the_file_wins_over_the_derived_one():
    text = GOOD + "density: {hit: 2, miss: {read_latency: 7}, operation: {fp_add: 9}}\n"
    density, derived = read(text, "m").density, read(GOOD, "m").density
    assert density.hit.value == 2
    assert density.miss["read", "latency"].value == 7
    assert density.operation["fp_add"].value == 9
    assert density.miss["read", "streaming"] == derived.miss["read", "streaming"]


def test_given_overheads_keep_their_values_and_grow_beyond():
    machine = read(GOOD + "openmp: {barrier: {1: 50, 2: 800, 18: 2600}}\n", "m")
    assert machine.overheads.barrier.at(18) == 2600
    assert machine.overheads.barrier.at(36) == 5200
    # fork and join where none is given: 500 + 1.5 barrier(p)
    assert machine.overheads.fork_join.at(2) == 500 + 1.5 * 800


def test_a_machine_without_a_family_has_a_core_that_is_assumed():
    machine = read(GOOD, "m.yaml")
    core = machine.processor
    assert core.family == "generic"
    assert "processor.family" in machine.defaulted
    assert {getattr(core, key).evidence for key in FIGURES} == {"assumed"}
    # as the models had it for every machine: four instructions, 10 misses, 32 streams
    assert (core.issue_width.value, core.outstanding_misses.value) == (4, 10)
    assert (core.prefetched_streams.value, core.prefetch_block.value) == (32, 4096)
    assert (machine.line_bytes, machine.page_bytes) == (64, 4096)


@pytest.mark.parametrize(
    ("simd", "level", "registers", "loads"),
    # 32 registers come with vectors of 512 bit; two loads with 24 bytes per cycle
    [(256, "32", 16, 2), (512, "24", 32, 2), (512, "23.9", 32, 1), (128, "16", 16, 1)],
)
def test_a_core_without_a_family_is_read_off_the_node(simd, level, registers, loads):
    text = GOOD.replace("simd: 256", f"simd: {simd}")
    text = text.replace("cores: 1, latency: 4", f"cores: 1, latency: 4, bytes_per_cycle: {level}")
    core = read(text, "m.yaml").processor
    assert (core.vector_registers.value, core.loads_per_cycle.value) == (registers, loads)


def test_a_family_gives_what_the_file_leaves_out_and_no_more():
    text = (
        GOOD
        + "processor:\n  {family: a64fx, issue_width: 3, fp_pipes: {assumed: 2, source: a guess}}\n"
    )
    machine = read(text, "m.yaml")
    core = machine.processor
    assert core.family == "a64fx"
    assert (core.issue_width.value, core.issue_width.source) == (3, "data sheet and lscpu")
    assert (core.fp_pipes.evidence, core.fp_pipes.source) == ("assumed", "a guess")
    assert core.store_bytes_per_cycle.value == 64
    assert core.store_bytes_per_cycle.source.startswith("family a64fx: ")
    assert machine.page_bytes == 65536
    # its ways are the file's own, its lines the family's, and nothing is left to a default
    assert [cache.associativity.whole for cache in machine.caches] == [8, 8, 20]
    assert [cache.line_bytes.whole for cache in machine.caches] == [256, 256, 256]
    left = ("processor.family", "caches[0].line", "caches[0].ways", "memory.page")
    assert not set(left) & set(machine.defaulted)


def test_the_file_wins_over_the_family():
    text = GOOD.replace("ways: 8, cores: 1, latency: 4", "line: 128, cores: 1, latency: 4")
    text = text.replace("latency: 90 ns", "latency: 90 ns\n  page: 16 KiB")
    machine = read(text + "processor: {family: a64fx}\n", "m.yaml")
    assert [cache.line_bytes.whole for cache in machine.caches] == [128, 256, 256]
    assert machine.caches[0].associativity.whole == 4
    assert machine.page_bytes == 16384


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 12), st.text(max_size=8))
@settings(max_examples=300, deadline=None)
def test_however_a_file_is_damaged_it_loads_or_gets_one_line(place, length, junk):
    text = GOOD[:place] + junk + GOOD[place + length :]
    try:
        machine = read(text, "m.yaml")
    except InputError as error:
        assert "\n" not in str(error)
        assert str(error).startswith("m.yaml")
    else:
        assert machine.cores >= 1


def test_a_figure_that_no_machine_has_is_refused():
    with pytest.raises(InputError, match="more than any machine has"):
        read(GOOD.replace("latency: 4", "latency: 1e308", 1), "m.yaml")
