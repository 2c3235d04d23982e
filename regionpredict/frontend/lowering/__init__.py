"""Lowers the syntax trees of a parsed `Unit` to `Region`s of the intermediate representation.

`find_regions` finds the worksharing loops, and `region_builder` lowers each of them.
`parallel_constructs`, `loop_headers`, `symbolic_values`, `operations` and `definitions` answer one
question each. `serial_loops` finds the loops that repeat calls. `chosen_functions` finds the
targets of calls through pointers.
"""

from regionpredict.frontend.lowering.chosen_functions import choices_of
from regionpredict.frontend.lowering.find_regions import regions_of, withheld_regions
from regionpredict.frontend.lowering.function_table_arguments import passed_tables
from regionpredict.frontend.lowering.serial_branches import serial_branches_of
from regionpredict.frontend.lowering.serial_loops import (
    has_serial_loops,
    serial_loops_of,
    serial_nests_of,
)

__all__ = [
    "choices_of",
    "has_serial_loops",
    "passed_tables",
    "regions_of",
    "serial_branches_of",
    "serial_loops_of",
    "serial_nests_of",
    "withheld_regions",
]
