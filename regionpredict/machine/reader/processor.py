"""Reads the section `processor` of a machine file: the processor family, and figures that replace
those of the family.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine.model import Cache, Node
from regionpredict.machine.processor import FIGURES, Processor
from regionpredict.machine.quantity import Quantity
from regionpredict.machine.reader import defaults
from regionpredict.machine.reader.families import GENERIC, Family, load_family, named_family
from regionpredict.machine.reader.section import Section

PROCESSOR = ("family", *FIGURES)
_WIDE_VECTOR_BITS = 512
_WIDE_PORTS = 24.0
"""The bytes per cycle of a first-level cache from which a core is assumed to execute two loads per
cycle.
"""


def read_family_of(section: Section | None, defaulted: list[str]) -> Family:
    """Returns the family that the section names, or the generic family. Raises InputError for an
    unknown family.
    """
    if section is not None and "family" in section:
        return named_family(section.required("family"))
    defaulted.append("processor.family")
    return load_family(GENERIC)


def read_processor(
    section: Section | None, family: Family, node: Node, caches: Sequence[Cache]
) -> Processor:
    """Returns the figures of the core from the section, else from the family, else derived from the
    node.
    """
    figures = {**_figures_of_node(node, caches), **family.figures}
    if section is not None:
        for key, figure in FIGURES.items():
            if key in section:
                low = -1e-12 if figure.zero else 0.0
                figures[key] = section.labels.quantity(
                    section.entries[key], figure.unit, low=low, whole=figure.whole
                )
    return Processor(family=family.name, **figures)


def _figures_of_node(node: Node, caches: Sequence[Cache]) -> dict[str, Quantity]:
    """Returns default figures of the core that follow from the node, for unknown families."""
    wide = node.simd_bits.value >= _WIDE_VECTOR_BITS
    read = caches[0].bytes_per_cycle
    two = read.value >= _WIDE_PORTS
    return {
        "vector_registers": defaults.assumed(
            32 if wide else 16,
            "registers",
            f"vectors of {node.simd_bits.whole} bit: 32 come with 512, on x86",
        ),
        "loads_per_cycle": defaults.assumed(
            2 if two else 1,
            "loads/cycle",
            f"{read.value:.3g} B per cycle from the first cache; {_WIDE_PORTS:g} or more allow two",
        ),
        "memory_operations_per_cycle": defaults.assumed(
            3 if two else 2, "operations/cycle", "the loads and one store"
        ),
        "load_bytes_per_cycle": defaults.assumed(
            read.value, "B/cycle", "what one core reads from the first cache"
        ),
    }
