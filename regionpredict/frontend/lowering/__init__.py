"""A parsed `Unit` in, its `Region`s out: syntax trees to the intermediate representation.

`find_regions` finds the worksharing loops, `region_builder` lowers each; `loop_headers`,
`symbolic_values`, `operations` and `definitions` answer one question each.
"""

from regionpredict.frontend.lowering.find_regions import regions_of

__all__ = ["regions_of"]
