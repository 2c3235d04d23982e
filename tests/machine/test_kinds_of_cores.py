"""Performance and efficiency cores, and virtual CPUs of one core, as hosts report or time them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.machine import load
from regionpredict.machine.calibrate.figures import figures
from regionpredict.machine.calibrate.plan import plan
from regionpredict.machine.detect import read_sysfs
from regionpredict.machine.detect.topology import CacheShape, Topology
from regionpredict.machine.writer import write

GIB = 1 << 30


def host(root: Path, speeds: dict[str, list[int]], flags: str = "avx2") -> Topology:
    """A made-up host of one thread a core, with the files of `speeds` for each."""
    system = root / "system"
    for cpu in range(max(map(len, speeds.values()))):
        folder = system / "cpu" / f"cpu{cpu}"
        files = {"topology/physical_package_id": 0, "topology/thread_siblings_list": cpu,
                 "cache/index0/type": "Unified", "cache/index0/level": 1,
                 "cache/index0/size": "32K", "cache/index0/shared_cpu_list": cpu}  # fmt: skip
        files |= {name: values[cpu] for name, values in speeds.items()}
        for name, value in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{value}\n")
    (root / "cpuinfo").write_text(f"model name : Made Up @ 2.40GHz\nflags : {flags}\n")
    return read_sysfs(system, root / "cpuinfo")


@pytest.mark.parametrize(
    ("speeds", "steps"),
    [
        # Six performance cores, one of them favored, and eight efficiency cores.
        ({"cpu_capacity": [1024] * 5 + [1009] + [512] * 8}, {1: 1.0, 7: 0.5}),
        # Small cores first, as on Arm.
        ({"cpu_capacity": [256] * 4 + [1024] * 4}, {1: 1.0, 5: 4.0}),
        ({"acpi_cppc/highest_perf": [60, 60, 30]}, {1: 1.0, 3: 0.5}),
        ({"cpufreq/cpuinfo_max_freq": [5000000, 4000000]}, {1: 1.0, 2: 0.8}),
        ({"cpu_capacity": [1024] * 4}, None),
    ],
)
def test_kinds_of_cores_that_linux_reports(tmp_path, speeds, steps):
    topology = host(tmp_path, speeds)
    assert topology.core_speed == (steps or {1: 1.0})
    (tmp_path / "m.yaml").write_text(write(topology, "m"))
    read = load(tmp_path / "m.yaml").node.core_speed
    if steps is None:
        assert read is None
    else:
        assert read is not None
        assert read.evidence == "derived"
        assert dict(zip(read.x, read.y, strict=True)) == pytest.approx(steps)


def test_a_virtual_machine_does_not_report_kinds(tmp_path):
    topology = host(tmp_path, {"cpu_capacity": [1024, 512]}, flags="avx2 hypervisor")
    assert topology.virtual
    assert topology.core_speed is None


VIRTUAL = Topology("vm", "a test", 1, 4, 1, 1, (CacheShape(1, 32768, 64, 8, 1),),
                   threads=(0, 1, 2, 3), virtual=True)  # fmt: skip
HYBRID = replace(VIRTUAL, virtual=False, core_speed={1: 1.0, 3: 0.4})


def of(topology: Topology, kind: str) -> dict[str, tuple[str, ...]]:
    made = plan(topology, GIB, topology.threads)
    return {m.key: m.arguments for m in made if m.key.startswith(f"{kind}/")}


def test_one_core_of_each_reported_kind_is_measured_or_each_core():
    assert {args[0] for args in of(HYBRID, "core").values()} == {"0", "2"}
    assert {args[0] for args in of(VIRTUAL, "core").values()} == {"0", "1", "2", "3"}
    assert not of(replace(VIRTUAL, core_speed={1: 1.0}), "core")
    assert not of(replace(VIRTUAL, cores_per_package=64, threads=tuple(range(64))), "core")


def test_pairs_of_virtual_cpus_are_timed_in_virtual_machines_alone():
    assert of(VIRTUAL, "threads") == {
        "threads/alone": ("0", "wide"), "threads/together": ("0,1", "wide")
    }  # fmt: skip
    assert not of(HYBRID, "threads")
    assert not of(replace(VIRTUAL, threads_per_core=2), "threads")
    assert not of(replace(VIRTUAL, cores_per_package=3, threads=(0, 1, 2)), "threads")


def timed(times: dict[str, float]) -> dict[str, list[float]]:
    return {key: [value] * 6 for key, value in {"clock": 0.25, **times}.items()}


def test_measured_speeds_come_before_reported_ones(tmp_path):
    """The third core takes 2 and 8 times as long: 4 times by the geometric mean."""
    times = {"core/1/fp_fma": 1.0, "core/1/int_add": 1.0, "core/3/fp_fma": 2.0,
             "core/3/int_add": 8.0}  # fmt: skip
    found = figures(HYBRID, (), timed(times))
    assert found.core_speed == pytest.approx({1: 1.0, 3: 0.25})
    (tmp_path / "m.yaml").write_text(write(HYBRID, "m", found))
    read = load(tmp_path / "m.yaml").node.core_speed
    assert read is not None
    assert (read.evidence, read.x, read.y) == ("measured", (1, 3), (1.0, 0.25))
    # Cores of one kind whose times differ by 15 % are one kind.
    equal = {f"core/{core}/{kind}": 1.0 + 0.05 * core for core in (1, 2, 3, 4)
             for kind in ("fp_fma", "int_add")}  # fmt: skip
    assert figures(VIRTUAL, (), timed(equal)).core_speed == {1: 1.0}


@pytest.mark.parametrize(("together", "vcpus"), [(1.0, None), (1.25, None), (1.6, 2), (2.0, 2)])
def test_virtual_cpus_that_slow_each_other_down_share_a_core(tmp_path, together, vcpus):
    found = figures(VIRTUAL, (), timed({"threads/alone": 1.0, "threads/together": together}))
    assert found.vcpus_per_core == vcpus
    (tmp_path / "m.yaml").write_text(write(VIRTUAL, "m", found))
    assert load(tmp_path / "m.yaml").vcpus_per_core == (vcpus or 1)
