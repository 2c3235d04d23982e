"""Input: a parsed `Unit`. Output: one `Flow` per function, with its memory writes in order."""

from regionpredict.frontend.memory_effects.changed_flows import (
    with_calls_through_pointers,
    with_choices,
    with_manual_worksharing,
    with_object_names,
    worksharing_block,
)
from regionpredict.frontend.memory_effects.function_effects import flows_of

__all__ = [
    "flows_of",
    "with_calls_through_pointers",
    "with_choices",
    "with_manual_worksharing",
    "with_object_names",
    "worksharing_block",
]  # fmt: skip
