"""The family of a host's processor and its page, from cpuinfo and from an hwloc XML."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from regionpredict.machine.detect import read_hwloc, read_sysfs
from regionpredict.machine.detect.sysfs import CPUINFO, SYSTEM
from regionpredict.machine.reader import Identity, read
from regionpredict.machine.writer import write
from tests.machine.test_machine_detect import HWLOC1, Host, make

X86 = "vendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: Some CPU @ 2.40GHz\n"
ARM = "CPU implementer\t: {}\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {}\n"


@pytest.mark.parametrize(
    ("cpuinfo", "family"),
    [
        (X86.format("GenuineIntel", 6, 85), "skylake-sp"),
        (X86.format("AuthenticAMD", 25, 17), "zen4"),
        (ARM.format("0x46", "0x001"), "a64fx"),
        (ARM.format("0x43", "0x0AF"), "thunderx2"),
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
