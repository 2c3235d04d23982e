"""Struct members that each iteration sets before it uses them, as private variables."""

from __future__ import annotations

from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.syntax import CType, Decl
from regionpredict.ir import Span


class SetMembers:
    """The variables for members and copied structs. The key is the path."""

    def __init__(self) -> None:
        self.variables: dict[str, Decl] = {}

    def variable(self, path: str, ctype: CType) -> Decl:
        """Returns the variable in a frame for the member or struct at a path."""
        known = self.variables.get(path)
        if known is None:
            known = self.variables[path] = Decl(path, "local", ctype, Span("", 0))
        return known

    def held(
        self, path: str | None, field: Decl, frame: Frame
    ) -> tuple[Pointer | None, Pointer | None]:
        """Returns the target of a member that was set, and the place from which its struct was
        copied.
        """
        if not self.variables or path is None:
            return None, None
        struct = path.removesuffix(field.name).removesuffix(".").removesuffix("->")
        return self._at(path, frame), self._at(struct, frame)

    def _at(self, path: str, frame: Frame) -> Pointer | None:
        value = frame.env.get(self.variables[path]) if path in self.variables else None
        return value if isinstance(value, Pointer) else None
