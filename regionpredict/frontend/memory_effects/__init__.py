"""A parsed `Unit` in, one `Flow` a function out: who writes which memory, in what order."""

from regionpredict.frontend.memory_effects.function_effects import flows_of

__all__ = ["flows_of"]
