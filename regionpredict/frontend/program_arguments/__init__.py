"""Interprets a program's statements, as far as values are known.

There are two entry points. `argument_values(units, argv)` interprets `main` with its arguments and
input files. `values_in(unit, function)` interprets any function with unknown arguments.
"""

from regionpredict.frontend.program_arguments.function_values import FunctionValues, values_in
from regionpredict.frontend.program_arguments.input_files import NO_INPUTS, InputPaths
from regionpredict.frontend.program_arguments.region_values import ArgumentValues, argument_values

__all__ = [
    "NO_INPUTS",
    "ArgumentValues",
    "FunctionValues",
    "InputPaths",
    "argument_values",
    "values_in",
]
