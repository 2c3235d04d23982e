"""Machine models. Input: YAML. Output: a frozen `Machine`.

Entry point: `load(name_or_path) -> Machine`. Every number is a `Quantity`, or a `Curve` over cores
or threads, with value, unit, evidence and source. `docs/machines.md` documents the schema.
"""

from __future__ import annotations

from regionpredict.machine.corrections import Corrections
from regionpredict.machine.density_weights import ELEMENT_BYTES
from regionpredict.machine.evidence import (
    UnconvergedFigure,
    assumed_figures,
    assumed_keys,
    unconverged_figures,
)
from regionpredict.machine.first_touch_sizes import NEW_BEYOND, NEW_IN_CACHE
from regionpredict.machine.kernels import KERNELS, Kernel
from regionpredict.machine.model import (
    BINDINGS,
    RUNTIMES,
    Cache,
    DensityWeights,
    Machine,
    Memory,
    Node,
    Operation,
    Overheads,
    SharedPath,
)
from regionpredict.machine.places import check_binding
from regionpredict.machine.processor import Processor
from regionpredict.machine.quantity import Curve, Evidence, Quantity
from regionpredict.machine.shipped import file_of, load, shipped_aliases, shipped_names
from regionpredict.machine.thread_places import (
    ThreadPlaces,
    cores_filled_first,
    packages_of,
    thread_places,
)

__all__ = [
    "BINDINGS",
    "ELEMENT_BYTES",
    "KERNELS",
    "NEW_BEYOND",
    "NEW_IN_CACHE",
    "RUNTIMES",
    "Cache",
    "Corrections",
    "Curve",
    "DensityWeights",
    "Evidence",
    "Kernel",
    "Machine",
    "Memory",
    "Node",
    "Operation",
    "Overheads",
    "Processor",
    "Quantity",
    "SharedPath",
    "ThreadPlaces",
    "UnconvergedFigure",
    "assumed_figures",
    "assumed_keys",
    "check_binding",
    "cores_filled_first",
    "file_of",
    "load",
    "packages_of",
    "shipped_aliases",
    "shipped_names",
    "thread_places",
    "unconverged_figures",
]
