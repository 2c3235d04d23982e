"""Values of a function's variables at a directive or a call, statement by statement.

    int n = 4;
    n += 3;                       n is 7
    put(&n, m);                   n is m, where `put` is `*p = m`
    #pragma omp parallel for

Values that a condition, a loop or an unknown function may change are unknown afterwards.
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.followed_statements import OWN, FollowedStatements
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.variable_values import is_plain
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Directive,
    Function,
    Jump,
    every_statement,
)
from regionpredict.ir import Expr


class Reached:
    """The values of a function's variables and members at the site."""

    def __init__(self, context: Context, frame: Frame, region: Context) -> None:
        self._context = context
        self._region = region
        self._frame = frame
        held = {d: v for d, v in frame.env.items() if d.kind in OWN}
        self._changed = {
            context.name_of(d) for d, v in held.items() if v != Expr.name(context.name_of(d))
        }

    def outlives(self, decl: Decl) -> bool:
        """Whether its value is made of variables that have changed since, as in `m = n; n = 5;`."""
        held = self._frame.env.get(decl)
        return isinstance(held, Expr) and bool(held.names & self._changed)

    def variable(self, decl: Decl) -> Expr | None:
        """Its value in names at the start of the function. None if unknown."""
        held = self._frame.env.get(decl)
        return self._in_region_names(held) if isinstance(held, Expr) else None

    def _in_region_names(self, value: Expr) -> Expr | None:
        """The value in the region's names."""
        if not is_plain(value) or value.names & self._changed:
            return None
        for name in value.names & self._context.stored_uses.keys():
            self._region.stored_uses.setdefault(name, self._context.stored_uses[name])
        declared = {name: decl for name, (decl, _) in self._context.named().items()}
        return self._region.in_own_names(value, declared)


def reaching_values(
    unit: LinkedUnit, function: Function, site: Directive | CallExpr, region: Context
) -> Reached | None:
    """The known values at a directive or a call, in the names of a region.

    None where the flow cannot be followed (`goto` outside the directive's own loop).
    """
    own = set(every_statement(site)) if isinstance(site, Directive) else set()
    for statement in every_statement(function.body):
        if isinstance(statement, Jump) and statement.kind == "goto" and statement not in own:
            return None
    context = Context(unit.body_of, unit.objects)
    walk, frame = FollowedStatements(unit, context, site), Frame({})
    return Reached(context, frame, region) if walk.through(function.body, frame) else None
