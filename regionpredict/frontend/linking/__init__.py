"""Input: parsed `Unit`s. Output: `LinkedUnit`s, in which calls and global variables are resolved to
definitions in other units.

`packed_unit` serializes a unit for another process. `program_units` stores all units of a run and
resolves declarations to definitions.
"""

from regionpredict.frontend.linking.container_lengths import Length
from regionpredict.frontend.linking.packed_unit import (
    Body,
    PackedUnit,
    Trees,
    pack_unit,
    trees_of,
    with_models,
)
from regionpredict.frontend.linking.program_settings import AssignmentTarget
from regionpredict.frontend.linking.program_units import LinkedUnit, ProgramUnits, linked_alone
from regionpredict.frontend.linking.stored_functions import (
    place_of,
    values_in,
)
from regionpredict.frontend.linking.stored_sizes import (
    Stored,
    member_in_program,
    stored_at,
)

__all__ = [
    "AssignmentTarget",
    "Body",
    "Length",
    "LinkedUnit",
    "PackedUnit",
    "ProgramUnits",
    "Stored",
    "Trees",
    "linked_alone",
    "member_in_program",
    "pack_unit",
    "place_of",
    "stored_at",
    "trees_of",
    "values_in",
    "with_models",
]
