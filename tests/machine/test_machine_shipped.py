"""The shipped machines: all there, sound, sourced, and with the figures of their sources."""

from __future__ import annotations

import pytest
import yaml

from regionpredict.machine import KERNELS, load, shipped_aliases, shipped_names
from regionpredict.machine.check import check
from regionpredict.machine.evidence import figures
from regionpredict.machine.machines_folder import shipped_folder

NAMES = {
    "clovertown",
    "dunnington",
    "sandybridge-e5-2680",
    "ivybridge-e5-2660v2",
    "haswell-e5-2695v3-cod",
    "broadwell-e5-2697v4-cod",
    "skylake-gold-6148",
    "skylake-gold-6148-snc",
    "cascadelake-gold-6248-snc",
    "icelake-8360y",
    "sapphirerapids-8470",
    "epyc-7451",
    "epyc-7452",
    "epyc-7763",
    "epyc-9654",
    "epyc-9755",
    "graniterapids-6972p",
    "grace",
    "a64fx",
    "thunderx2",
}


def test_these_machines_are_shipped():
    assert set(shipped_names()) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_shipped_machine_is_sound(name):
    machine = load(name)
    assert machine.name == name
    assert [finding for finding in check(machine) if finding.severity == "error"] == []
    for key, figure in figures(machine):
        assert figure.source.strip(), key
    text = (shipped_folder() / f"{name}.yaml").read_text(encoding="utf-8")
    assert "/work" not in text
    assert "shared/" not in text


@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_clock_falls_with_cores_where_tables_are_of_one_clock(name):
    """Each core has a first cache of its own: what it loads goes with the clock alone."""
    machine = load(name)
    table = machine.caches[0].bandwidth.get("load")
    if table is not None and name != "a64fx":
        most = table.x[-1]
        assert 0.97 <= table.at(most) / most / table.at(1) <= 1.01
    assert machine.node.turbo is None


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_density_weights_are_in_the_order_of_the_thesis(name):
    # Chatzopoulos 2012, sec. 4.2.2: a latency miss weighs less than a streaming one
    density = load(name).density
    for kind in ("read", "write"):
        streaming = density.miss[kind, "streaming"].value
        assert 0 < density.miss[kind, "latency"].value < streaming
        assert density.miss[kind, "irregular"].value <= streaming
    assert density.miss["write", "streaming"].value > density.miss["read", "streaming"].value
    assert density.hit.value > 0
    assert set(density.operation) == set(load(name).operations)
    assert all(weight.value > 0 for weight in density.operation.values())


@pytest.mark.parametrize(
    ("name", "packages", "cores", "domains", "largest"),
    [
        ("clovertown", 2, 8, 2, 4 * 1024**2),
        ("dunnington", 4, 24, 4, 16 * 1024**2),
        ("sandybridge-e5-2680", 2, 16, 2, 20 * 1024**2),
        ("ivybridge-e5-2660v2", 2, 20, 2, 25 * 1024**2),
        ("haswell-e5-2695v3-cod", 2, 28, 4, 35 * 1024**2 // 2),
        ("broadwell-e5-2697v4-cod", 2, 36, 4, 45 * 1024**2 // 2),
        ("skylake-gold-6148", 2, 40, 2, 55 * 1024**2 // 2),
        ("skylake-gold-6148-snc", 2, 40, 4, 55 * 1024**2 // 4),
        ("cascadelake-gold-6248-snc", 2, 40, 4, 55 * 1024**2 // 4),
        ("icelake-8360y", 2, 72, 4, 27 * 1024**2),
        ("sapphirerapids-8470", 2, 104, 8, 105 * 1024**2 // 4),
        ("epyc-7451", 2, 48, 8, 8 * 1024**2),
        ("epyc-7452", 1, 32, 4, 16 * 1024**2),
        ("epyc-9654", 2, 192, 2, 32 * 1024**2),
        ("a64fx", 1, 48, 4, 8 * 1024**2),
        ("thunderx2", 2, 64, 2, 32 * 1024**2),
    ],
)
def test_the_shape_of_each_node(name, packages, cores, domains, largest):
    machine = load(name)
    assert (machine.packages, machine.cores, machine.domains) == (packages, cores, domains)
    assert machine.largest_cache_bytes == largest


def test_clovertown_has_the_figures_of_its_sources():
    machine = load("clovertown")
    # Chatzopoulos 2012, sec. 6.1.1
    assert [cache.size_bytes.whole for cache in machine.caches] == [32 * 1024, 4 * 1024**2]
    assert [cache.shared_by_cores.whole for cache in machine.caches] == [1, 2]
    # InstLatx64 (L5320)
    latencies = {
        kind: machine.operation(kind).latency_cycles.value
        for kind in ("fp_add", "fp_mul", "fp_div", "fp_sqrt", "int_mul")
    }
    assert latencies == {"fp_add": 3, "fp_mul": 5, "fp_div": 32, "fp_sqrt": 58, "int_mul": 3}
    # 126 ns at 1.86 GHz: 235 cycles
    assert machine.memory.latency_cycles.value == pytest.approx(234.36)
    # stream-scaling, 2 x E5405: 3651, 3830, 4941, 5774 MB/s on 1 to 4 threads
    triad = machine.memory.bandwidth["stream_triad"]
    assert [triad.at(p) for p in (1, 2, 3, 4)] == [3.651e9, 3.83e9, 4.941e9, 5.774e9]
    assert machine.memory.shared_path is not None


def test_clovertowns_weights_by_hand():
    density = load("clovertown").density
    # 5.773 GB/s of triad on 8 threads, 4/3 of it with write-allocate: 7.70 GB/s for the node.
    # Four cores of a package take 4 * 8 B * 1.86e9 / 7.70e9 cycles for an element each.
    streaming = 4 * 8 * 1.86e9 / 7.70e9
    assert density.miss["read", "streaming"].value == pytest.approx(streaming)
    assert density.miss["write", "streaming"].value == pytest.approx(2 * streaming)
    # the middle of 131 to 155 cycles a line, streaming, over 237, waiting for each
    assert density.latency_factor.value == pytest.approx((131 + 155) / 2 / 237, abs=1e-3)
    assert density.miss["read", "latency"].value == pytest.approx(0.603 * streaming)
    assert density.hit.value == 3
    assert density.operation["fp_mul"].value == 5


def test_dunnington_does_not_share_clovertowns_divisions():
    machine = load("dunnington")
    assert machine.operation("fp_div").latency_cycles.value == 20
    assert machine.operation("fp_sqrt").latency_cycles.value == 19
    assert [cache.shared_by_cores.whole for cache in machine.caches] == [1, 2, 6]
    # six cores and 16 MB of L3 are the X7460, at 2.66 GHz
    assert machine.clock_hz == pytest.approx(2.66e9)
    # 12 GB/s, assumed: 6 * 8 B * 2.66e9 / 12e9
    streaming = machine.density.miss["read", "streaming"]
    assert streaming.value == pytest.approx(10.64)
    assert streaming.evidence == "assumed"


@pytest.mark.parametrize(
    ("name", "kernel", "measured"),
    # machine files of kerncraft 0.8, GB/s by cores: every one of these must come back to 1 %
    [
        ("skylake-gold-6148", "load", {1: 14.32, 5: 63.49, 9: 101.09, 15: 120.59, 20: 117.82}),
        ("broadwell-e5-2697v4-cod", "triad", {1: 10.06, 2: 18.1, 3: 22.53, 5: 25.96, 9: 26.0}),
        ("cascadelake-gold-6248-snc", "load", {1: 12.96, 4: 47.04, 7: 60.24, 9: 61.07}),
        ("epyc-7452", "load", {1: 21.77, 2: 33.81, 4: 35.67, 8: 34.74}),
        ("a64fx", "triad", {1: 45.75, 2: 99.37, 3: 137.01, 6: 156.83, 12: 158.67}),
        ("thunderx2", "copy", {1: 16.18, 6: 77.86, 12: 112.54, 18: 118.98, 32: 117.92}),
        ("icelake-8360y", "update", {1: 24.09, 4: 61.82, 9: 70.88, 18: 74.69}),
        ("sapphirerapids-8470", "load", {1: 14.49, 5: 59.63, 7: 68.12, 13: 68.71}),
    ],
)
def test_thinned_tables_give_back_what_was_measured(name, kernel, measured):
    curve = load(name).memory.bandwidth[kernel]
    assert curve.evidence == "measured"
    for cores, gbps in measured.items():
        assert curve.at(cores) == pytest.approx(gbps * 1e9, rel=0.011)


def test_barriers_as_measured():
    # RRZE SC19-ECM-AA: Skylake-SP 794.0 and 2576.5 cycles on 2 and 20 threads
    barrier = load("skylake-gold-6148").overheads.barrier
    assert barrier.at(2) == pytest.approx(794.0, rel=0.03)
    assert barrier.at(20) == pytest.approx(2576.5, rel=0.03)
    assert load("thunderx2").overheads.barrier.at(32) == pytest.approx(6607.9, rel=0.03)
    assert load("epyc-7451").overheads.barrier.at(24) == pytest.approx(6315.8, rel=0.03)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_kernel_without_a_table_moves_the_traffic_of_one_with(name):
    memory = load(name).memory
    for kernel in KERNELS:
        curve = memory.curve(kernel)
        assert curve.x[0] == 1
        if kernel not in memory.bandwidth:
            base = next(other for other in KERNELS if other in memory.bandwidth)
            assert curve.at(2) * KERNELS[kernel].traffic_factor == pytest.approx(
                memory.bandwidth[base].at(2) * KERNELS[base].traffic_factor
            )


def test_packages_on_one_path_share_it_and_others_do_not():
    path = load("clovertown").memory.shared_path
    assert path is not None
    assert path.traffic_bytes_per_s.value == pytest.approx(7.7e9)
    assert load("skylake-gold-6148").memory.shared_path is None


def test_other_names_mean_one_machine_each() -> None:
    """Names of generations and of archspec; none is a machine's own, and none means two."""
    aliases = shipped_aliases()
    assert {"zen3", "milan", "sapphirerapids", "genoa", "turin"} <= set(aliases)
    assert not set(aliases) & set(shipped_names())
    lines = [
        line
        for name in shipped_names()
        for line in (shipped_folder() / f"{name}.yaml").read_text().splitlines()
        if line.startswith("aliases:")
    ]
    listed = [alias for line in lines for alias in yaml.safe_load(line)["aliases"]]
    assert sorted(listed) == sorted(aliases)
    for alias, name in aliases.items():
        assert load(alias).name == name
