"""Tracks the targets of a program's pointers, including pointers in copied structs."""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.ir.flow import Place


class Pointers:
    """The memory block to which each pointer points.

    A pointer that was never set points to a separate block. In a copy of a struct, it points to the
    same block as in the original struct.
    """

    def __init__(self) -> None:
        self._memory: dict[Place, Place] = {}
        self._copied: dict[Place, Place] = {}  # struct -> the struct that it was copied from
        self._below: dict[str, dict[Place, None]] = {}  # variable -> all pointers in it

    def target(self, pointer: Place) -> Place:
        """Returns the target of a pointer."""
        if pointer not in self._memory:
            self.point(pointer, (*self._original_of(pointer), "*"))
        return self._memory[pointer]

    def point(self, pointer: Place, memory: Place) -> None:
        """Records that a pointer gets an address."""
        self._memory[pointer] = memory
        self._below.setdefault(pointer[0], {})[pointer] = None

    def forget(self, pointer: Place) -> None:
        """Records that a pointer gets an unknown address."""
        self._memory.pop(pointer, None)

    def copy(self, target: Place, source: Place) -> None:
        """Copies a struct, including the targets of its pointers."""
        inside = self._entries_of_struct(self._memory, source)
        copied = {**self._entries_of_struct(self._copied, source), (): self._original_of(source)}
        for table in (self._memory, self._copied):
            for rest in self._entries_of_struct(table, target):
                del table[(*target, *rest)]
        for rest, memory in inside.items():
            self.point((*target, *rest), memory)
        for rest, origin in copied.items():
            slot = (*target, *rest)
            self._copied[slot] = origin
            self._below.setdefault(slot[0], {})[slot] = None

    def _entries_of_struct(self, table: Mapping[Place, Place], struct: Place) -> dict[Place, Place]:
        """Returns the entries of a struct, by the path from the struct."""
        return {
            slot[len(struct) :]: table[slot]
            for slot in self._below.get(struct[0], ())
            if slot[: len(struct)] == struct and slot in table
        }

    def _original_of(self, place: Place) -> Place:
        """Returns the original of a struct, or of a part of a struct, that was copied to a
        location.
        """
        for length in range(len(place), 0, -1):
            if place[:length] in self._copied:
                return (*self._copied[place[:length]], *place[length:])
        return place

    def targets_of_globals(self) -> dict[Place, Place]:
        """Returns the targets of global pointer variables, and of pointers in global structs."""
        return {slot: memory for slot, memory in self._memory.items() if slot[0].startswith("::")}
