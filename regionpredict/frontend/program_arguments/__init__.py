"""A program's statements are executed as far as values are known.

Doors: `argument_values(unit, argv)` follows `main` with its arguments, `values_in(unit, function)`
any function,
whose arguments are unknown.
"""

from regionpredict.frontend.program_arguments.function_values import FunctionValues, values_in
from regionpredict.frontend.program_arguments.region_values import ArgumentValues, argument_values

__all__ = ["ArgumentValues", "FunctionValues", "argument_values", "values_in"]
