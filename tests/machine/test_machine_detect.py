"""The shape of hosts and the family of their processors, from made-up sysfs trees and XMLs."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.machine import load
from regionpredict.machine.check import check
from regionpredict.machine.detect import read_hwloc, read_sysfs
from regionpredict.machine.detect.sysfs import CPUINFO, SYSTEM, cpu_list
from regionpredict.machine.reader import Identity, read
from regionpredict.machine.writer import write


@dataclass
class Host:
    """A made-up host: threads are numbered core by core, the second ones after all first."""

    packages: int = 1
    domains: int = 1
    cores: int = 4
    smt: int = 1
    l3_kib: int = 8192
    model: str = "Made Up CPU @ 2.40GHz"
    flags: str = "sse2 avx avx2"

    @property
    def total(self) -> int:
        return self.packages * self.domains * self.cores


def make(root: Path, host: Host) -> tuple[Path, Path]:
    """Write the sysfs tree of `host`; `cores` is of one domain."""
    system = root / "system"
    for cpu in range(host.total * host.smt):
        core = cpu % host.total
        folder = system / "cpu" / f"cpu{cpu}"
        package = core // (host.domains * host.cores)
        siblings = ",".join(str(core + k * host.total) for k in range(host.smt))
        first = core - core % host.cores
        domain = [first + k + t * host.total for t in range(host.smt) for k in range(host.cores)]
        put(folder / "topology" / "physical_package_id", package)
        put(folder / "topology" / "core_id", core % host.cores)
        put(folder / "topology" / "thread_siblings_list", siblings)
        caches = [
            (1, "Data", "32K", 8, siblings),
            (1, "Instruction", "32K", 8, siblings),
            (2, "Unified", "1024K", 16, siblings),
            (3, "Unified", f"{host.l3_kib}K", 16, ",".join(map(str, sorted(domain)))),
        ]
        for index, (level, kind, size, ways, shared) in enumerate(caches):
            cache = folder / "cache" / f"index{index}"
            put(cache / "level", level)
            put(cache / "type", kind)
            put(cache / "size", size)
            put(cache / "coherency_line_size", 64)
            put(cache / "ways_of_associativity", ways)
            put(cache / "shared_cpu_list", shared)
    put(system / "cpu" / "online", f"0-{host.total * host.smt - 1}")
    put(system / "cpu" / "cpufreq" / "boost", 1)
    for node in range(host.packages * host.domains):
        first = node * host.cores
        ranges = [
            f"{first + t * host.total}-{first + t * host.total + host.cores - 1}"
            for t in range(host.smt)
        ]
        put(system / "node" / f"node{node}" / "cpulist", ",".join(ranges))
    info = root / "cpuinfo"
    info.write_text(f"processor\t: 0\nmodel name\t: {host.model}\nflags\t\t: {host.flags}\n\n")
    return system, info


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{value}\n")


def test_two_packages_of_two_domains_with_two_threads_a_core(tmp_path):
    topology = read_sysfs(*make(tmp_path, Host(packages=2, domains=2, cores=6, smt=2)))
    assert (topology.packages, topology.cores_per_package) == (2, 12)
    assert (topology.domains_per_package, topology.threads_per_core) == (2, 2)
    assert topology.clock_hz == 2.4e9
    assert topology.simd_bits == 256
    assert [(c.level, c.size, c.ways, c.cores) for c in topology.caches] == [
        (1, 32 * 1024, 8, 1),
        (2, 1024 * 1024, 16, 1),
        (3, 8192 * 1024, 16, 6),
    ]
    assert topology.remarks == ()
    # one hardware thread a core, one domain after the other
    assert topology.threads == tuple(range(24))


@pytest.mark.parametrize(
    ("cores", "l3_mib", "plausible"), [(4, 8, True), (2, 480, False), (1, 16, True), (1, 17, False)]
)
def test_a_cache_no_core_can_have_is_not_plausible(tmp_path, cores, l3_mib, plausible):
    host = Host(cores=cores, l3_kib=l3_mib * 1024, flags="sse2 avx hypervisor")
    topology = read_sysfs(*make(tmp_path, host))
    last = topology.caches[-1]
    assert last.plausible == plausible
    assert last.shown == l3_mib * 1024**2
    if plausible:
        assert topology.remarks == ()
    else:
        assert "not plausible" in topology.remarks[0]
        assert last.size == 2 * 1024**2 * cores
        text = write(topology, "host")
        path = tmp_path / "host.yaml"
        path.write_text(text)
        assert load(path).caches[-1].size_bytes.evidence == "assumed"


def test_a_virtual_machine_of_one_core_packages(tmp_path):
    host = Host(packages=8, cores=1, l3_kib=16384, flags="sse2 hypervisor")
    topology = read_sysfs(*make(tmp_path, host))
    assert (topology.packages, topology.cores_per_package) == (1, 8)
    assert "8 packages of one core are not plausible" in topology.remarks[0]


def test_offline_threads_do_not_count(tmp_path):
    system, info = make(tmp_path, Host(cores=4))
    (system / "cpu" / "online").write_text("0,2-3\n")
    assert read_sysfs(system, info).cores == 3


def test_a_host_that_hides_its_topology_gets_one_line(tmp_path):
    with pytest.raises(InputError, match="hides its topology"):
        read_sysfs(tmp_path / "nothing", tmp_path / "nothing")
    system, info = make(tmp_path, Host())
    for path in system.glob("cpu/cpu*/cache/*/size"):
        path.unlink()
    with pytest.raises(InputError, match="does not show its caches") as caught:
        read_sysfs(system, info)
    assert "\n" not in str(caught.value)


def test_unlike_packages_are_remarked_on(tmp_path):
    system, info = make(tmp_path, Host(packages=2, cores=4))
    (system / "cpu" / "online").write_text("0-6\n")
    assert any("different numbers of cores" in text for text in read_sysfs(system, info).remarks)


def test_garbled_files_do_not_stop_the_reading(tmp_path):
    system, info = make(tmp_path, Host())
    (system / "cpu/cpu0/topology/physical_package_id").write_text("-1\n")
    (system / "cpu/cpu1/cache/index0/coherency_line_size").write_text("many\n")
    (system / "cpu/cpu1/cache/index0/shared_cpu_list").write_text("\n")
    info.write_bytes(b"\xff\xfe")
    topology = read_sysfs(system, info)
    assert topology.cores == 4
    assert topology.clock_hz is None
    assert topology.simd_bits is None


def test_the_base_clock_of_the_driver_comes_first(tmp_path):
    system, info = make(tmp_path, Host())
    put(system / "cpu/cpu0/cpufreq/base_frequency", 2100000)
    assert read_sysfs(system, info).clock_hz == 2.1e9


def test_cpu_lists():
    assert cpu_list("0-2,8,10-11") == {0, 1, 2, 8, 10, 11}
    assert cpu_list("") == set()


@pytest.mark.parametrize("host", [Host(), Host(packages=2, domains=4, cores=13, smt=2)])
def test_what_is_detected_loads_and_checks(tmp_path, host):
    path = tmp_path / "host.yaml"
    path.write_text(write(read_sysfs(*make(tmp_path, host)), "host"))
    machine = load(path)
    assert machine.packages == host.packages
    assert machine.domains == host.packages * host.domains
    assert machine.cores == host.total
    assert machine.memory.bandwidth["load"].evidence == "assumed"
    assert [f for f in check(machine) if f.severity == "error"] == []


HWLOC2 = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0">
  <info name="CPUModel" value="Two Dies @ 2.00GHz"/>
  <object type="Package" os_index="0">
   {domains0}
  </object>
  <object type="Package" os_index="1">
   {domains1}
  </object>
 </object>
</topology>
"""


def hwloc_group(domain: int, first: int, cores: int) -> str:
    """hwloc 2: the domain lies beside the L3 that is near to it."""
    inner = "".join(
        f'<object type="L2Cache" cache_size="524288" cache_linesize="64" cache_type="0">'
        f'<object type="L1Cache" cache_size="32768" cache_linesize="64" cache_type="1">'
        f'<object type="L1iCache" cache_size="65536" cache_type="2">'
        f'<object type="Core" os_index="{cpu}"><object type="PU" os_index="{cpu}"/></object>'
        f"</object></object></object>"
        for cpu in range(first, first + cores)
    )
    return (
        f'<object type="Group"><object type="NUMANode" os_index="{domain}"/>'
        f'<object type="L3Cache" cache_size="8388608" cache_linesize="64" '
        f'cache_associativity="16" cache_type="0">{inner}</object></object>'
    )


def test_hwloc_two_with_domains_beside_the_caches(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(
        HWLOC2.format(
            domains0=hwloc_group(0, 0, 3) + hwloc_group(1, 3, 3),
            domains1=hwloc_group(2, 6, 3) + hwloc_group(3, 9, 3),
        )
    )
    topology = read_hwloc(path)
    assert topology.name == "Two Dies @ 2.00GHz"
    assert topology.clock_hz == 2e9
    assert (topology.packages, topology.cores_per_package) == (2, 6)
    assert (topology.domains_per_package, topology.threads_per_core) == (2, 1)
    assert [(c.level, c.size, c.cores) for c in topology.caches] == [
        (1, 32768, 1),
        (2, 524288, 1),
        (3, 8388608, 3),
    ]


HWLOC1 = """<?xml version="1.0"?>
<topology>
 <object type="Machine" os_index="0">
  <object type="NUMANode" os_index="0"><object type="Socket" os_index="0">
   <object type="Cache" cache_size="4194304" depth="2" cache_linesize="64" cache_type="0">
    <object type="Cache" cache_size="32768" depth="1" cache_linesize="64" cache_type="1">
     <object type="Core" os_index="0">
      <object type="PU" os_index="0"/><object type="PU" os_index="2"/>
     </object></object>
    <object type="Cache" cache_size="32768" depth="1" cache_linesize="64" cache_type="1">
     <object type="Core" os_index="1">
      <object type="PU" os_index="1"/><object type="PU" os_index="3"/>
     </object></object>
   </object></object></object>
 </object>
</topology>
"""


def test_hwloc_one_with_domains_above_the_sockets(tmp_path):
    path = tmp_path / "old.xml"
    path.write_text(HWLOC1)
    topology = read_hwloc(path)
    assert (topology.packages, topology.cores, topology.threads_per_core) == (1, 2, 2)
    assert [(c.level, c.size, c.cores) for c in topology.caches] == [(1, 32768, 1), (2, 4194304, 2)]
    assert topology.clock_hz is None


@pytest.mark.parametrize(
    "text", ["", "no xml", "<topology/>", "<topology><object type='Machine'/></topology>"]
)
def test_what_is_no_hwloc_xml_gets_one_line(tmp_path, text):
    path = tmp_path / "bad.xml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_hwloc(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        read_hwloc(tmp_path / "none.xml")


def test_each_domain_has_its_part_of_the_memory(tmp_path):
    """Two packages of one domain with 32 GiB each: 64 GiB in all, 32 GiB in the written file."""
    system, info = make(tmp_path, Host(packages=2))
    assert read_sysfs(system, info).memory_bytes is None  # no meminfo shown
    for node in range(2):
        text = f"Node {node} MemTotal:       33554432 kB\nNode {node} MemFree:  1000 kB"
        put(system / "node" / f"node{node}" / "meminfo", text)
    topology = read_sysfs(system, info)
    assert topology.memory_bytes == 64 * 2**30
    path = tmp_path / "host.yaml"
    path.write_text(write(topology, "host"))
    size = load(str(path)).memory.size_bytes
    assert size is not None and size.value == 32 * 2**30


X86 = "vendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: Some CPU @ 2.40GHz\n"
ARM = "CPU implementer\t: {}\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {}\n"


@pytest.mark.parametrize(
    ("cpuinfo", "family"),
    [
        (X86.format("GenuineIntel", 6, 85), "skylake-sp"),
        (X86.format("AuthenticAMD", 25, 17), "zen4"),
        (ARM.format("0x46", "0x001"), "a64fx"),
        (ARM.format("0x43", "0x0AF"), "thunderx2"),
        (ARM.format("0x41", "0xd4f"), "neoverse-v2"),
    ],
)
def test_a_host_gets_the_family_of_its_processor(tmp_path, cpuinfo, family):
    system, info = make(tmp_path, Host())
    info.write_text(cpuinfo)
    machine = read(write(read_sysfs(system, info), "host"), "host.yaml")
    assert machine.processor.family == family
    assert "processor.family" not in machine.defaulted
    # the made-up sysfs tells lines and ways, which go before those of the family
    assert [cache.line_bytes.whole for cache in machine.caches] == [64, 64, 64]
    assert [cache.associativity.whole for cache in machine.caches] == [8, 16, 16]


@pytest.mark.parametrize(
    ("cpuinfo", "remark"),
    [
        (X86.format("GenuineIntel", 6, 9999), 'vendor "GenuineIntel", family 6, model 9999'),
        (ARM.format("0x41", "0xd0c"), 'vendor "0x41", model 3340'),
        (X86.format("Genuine: Intel #", 6, 85), 'vendor "Genuine: Intel #", family 6, model 85'),
    ],
)
def test_a_processor_that_no_family_has_is_said_to_be_assumed(tmp_path, cpuinfo, remark):
    system, info = make(tmp_path, Host())
    info.write_text(cpuinfo)
    text = write(read_sysfs(system, info), "host")
    assert f"# No processor family has {remark}: its core is assumed.\n" in text
    assert read(text, "host.yaml").processor.family == "generic"


@pytest.mark.parametrize(
    "cpuinfo", ["", "model\t: many\nvendor_id\t: X\n", "CPU implementer\t: 0x46\n"]
)
def test_a_host_that_does_not_say_what_it_is_has_no_family(tmp_path, cpuinfo):
    system, info = make(tmp_path, Host())
    info.write_text(cpuinfo)
    topology = read_sysfs(system, info)
    assert topology.identity is None
    assert "processor" not in write(topology, "host")


def test_the_page_is_read_of_this_host_alone(tmp_path):
    assert read_sysfs(SYSTEM, CPUINFO).page_bytes == mmap.PAGESIZE
    topology = read_sysfs(*make(tmp_path, Host()))
    assert topology.page_bytes is None


def test_hwloc_tells_the_processor_and_its_page(tmp_path: Path):
    machine = '<object type="Machine" os_index="0">'
    infos = "".join(
        f'<info name="{name}" value="{value}"/>'
        for name, value in (
            ("CPUVendor", "AuthenticAMD"),
            ("CPUFamilyNumber", "23"),
            ("CPUModelNumber", "49"),
        )
    )
    pages = '<page_type size="2097152" count="0"/><page_type size="65536" count="9"/>'
    path = tmp_path / "m.xml"
    path.write_text(HWLOC1.replace(machine, machine + infos + pages))
    topology = read_hwloc(path)
    assert topology.identity == Identity("AuthenticAMD", 23, 49)
    assert topology.page_bytes == 65536
    node = read(write(topology, "m"), "m.yaml")
    assert (node.processor.family, node.page_bytes) == ("zen2", 65536)


@pytest.mark.parametrize("value", ["many", "", "0x31"])
def test_an_hwloc_xml_of_garbled_numbers_has_no_family(tmp_path, value):
    machine = '<object type="Machine" os_index="0">'
    info = f'<info name="CPUVendor" value="X"/><info name="CPUFamilyNumber" value="{value}"/>'
    path = tmp_path / "m.xml"
    path.write_text(HWLOC1.replace(machine, machine + info))
    assert read_hwloc(path).identity is None
