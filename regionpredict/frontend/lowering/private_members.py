"""Struct members that each iteration sets before it uses them, as private variables."""

from __future__ import annotations

from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.syntax import CType, Decl
from regionpredict.ir import Span


class AssignedMembers:
    """Variables that represent assigned struct members and copied structs. The key is the access
    path.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Decl] = {}

    def variable(self, path: str, ctype: CType) -> Decl:
        """Returns the variable that represents the member or struct with an access path."""
        known = self.variables.get(path)
        if known is None:
            known = self.variables[path] = Decl(path, "local", ctype, Span("", 0))
        return known

    def target_and_origin(
        self, path: str | None, field: Decl, frame: Frame
    ) -> tuple[Pointer | None, Pointer | None]:
        """Returns the address that was assigned to a member, and the address from which its struct
        was copied.
        """
        if not self.variables or path is None:
            return None, None
        struct = path.removesuffix(field.name).removesuffix(".").removesuffix("->")
        return self._member_at(path, frame), self._member_at(struct, frame)

    def _member_at(self, path: str, frame: Frame) -> Pointer | None:
        value = frame.env.get(self.variables[path]) if path in self.variables else None
        return value if isinstance(value, Pointer) else None
