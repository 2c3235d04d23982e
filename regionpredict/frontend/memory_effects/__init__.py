"""Input: a parsed `Unit`. Output: one `Flow` per function, its memory writes in order."""

from regionpredict.frontend.memory_effects.function_effects import flows_of
from regionpredict.frontend.memory_effects.functions_meant import with_choices, with_pointed
from regionpredict.frontend.memory_effects.manual_worksharing import (
    with_manual_worksharing,
    worksharing_block,
)
from regionpredict.frontend.memory_effects.object_names import with_object_names

__all__ = ["flows_of", "with_choices", "with_manual_worksharing", "with_object_names",
           "with_pointed", "worksharing_block"]  # fmt: skip
