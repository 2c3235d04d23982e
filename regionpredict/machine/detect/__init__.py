"""Detects the topology of a host. Input: sysfs, or an hwloc XML of any machine. Output: a
`Topology`.

Entry points: `read_sysfs(system, cpuinfo) -> Topology` and `read_hwloc(path) -> Topology`.
"""

from __future__ import annotations

from regionpredict.machine.detect.hwloc import read_hwloc
from regionpredict.machine.detect.sysfs import read_sysfs
from regionpredict.machine.detect.topology import CacheShape, Topology

__all__ = ["CacheShape", "Topology", "read_hwloc", "read_sysfs"]
