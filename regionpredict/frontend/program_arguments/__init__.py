"""The arguments of the command line in, the values that a program makes of them out.

Door: `argument_values(unit, argv)`, of a unit that has `main`.
"""

from regionpredict.frontend.program_arguments.region_values import ArgumentValues, argument_values

__all__ = ["ArgumentValues", "argument_values"]
