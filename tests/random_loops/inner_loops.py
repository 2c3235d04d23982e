"""The forms of inner loops: plain ones, and those whose header does not say how often they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from written import C, assign, binary, read, same, set_scalar, stepped

if TYPE_CHECKING:
    from programs import Builder

Form = Callable[["Builder", int], None]


def _bound(own: Builder, low: int = 2, high: int = 12) -> str:
    """A bound that is a number on one line: what makes it so must not come between loops."""
    value = own.scaled(own.choose.randint(low, high))
    return own.sizes.number(value)


def _inside(own: Builder, depth: int) -> None:
    if depth > 1 and own.choose.random() < 0.5:
        own.body(depth - 1)
    else:
        own.values.counters = tuple(own.counters)
        own.statements(own.choose.choice([1, 1, 2]))


def plain(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    step = own.choose.choice([1, 1, 1, 1, 2, 3, 4])
    kind = own.choose.choice(["int", "int", "int", "long", "short", "signed char"])
    start = str(own.choose.choice([0, 0, 0, 1, 2]))
    own.open_loop(own.header(name, start, _bound(own), step, kind=kind), name)
    _inside(own, depth)
    own.close_loop(name)


def triangular(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    outer = own.choose.choice(own.counters)
    shift = own.choose.randint(-2, 4)
    moved = outer if not shift else f"{outer} {'+' if shift > 0 else '-'} {abs(shift)}"
    step = own.choose.choice([1, 1, 1, 1, 2, 3])
    if own.choose.random() < 0.5:
        head = own.header(name, str(own.choose.randint(0, 3)), moved, step)
    else:
        head = own.header(name, moved, _bound(own, 3, 14), step)
    own.open_loop(head, name)
    _inside(own, depth)
    own.close_loop(name)


def banded(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    outer = own.choose.choice(own.counters)
    width, most = own.choose.randint(1, 4), own.scaled(own.choose.randint(4, 16))
    less = f"{outer} - {width}"
    start = own.choose.choice(
        [f"MAX(0, {less})", f"({outer} > {width} ? {less} : 0)", f"{less} < 0 ? 0 : {less}"]
    )
    own.open_loop(
        f"for (int {name} = {start}; {name} < MIN({most}, {outer} + {width + 1}); {name}++)", name
    )
    _inside(own, depth)
    own.close_loop(name)


def tiled(own: Builder, depth: int) -> None:
    outer, name = own.fresh("jj"), own.fresh("j")
    size, most = own.scaled(own.choose.randint(2, 5)), own.scaled(own.choose.randint(4, 14))
    own.open_loop(f"for (int {outer} = 0; {outer} < {most}; {outer} += {size})", None)
    own.open_loop(
        f"for (int {name} = {outer}; {name} < MIN({outer} + {size}, {most}); {name}++)", name
    )
    _inside(own, depth)
    own.close_loop(name)
    own.close_loop(None)


def two_variables(own: Builder, depth: int) -> None:
    name, other = own.fresh("j"), own.fresh("q")
    most = own.choose.randint(4, 12)
    form = own.choose.randrange(4)
    if form == 0:
        head = f"for (int {name} = 0, {other} = {most}; {name} < {other}; {name}++, {other}--)"
    elif form == 1:
        head = f"for (int {name} = 0, {other} = 3; {name} < {most}; {name}++, {other} += 2)"
    elif form == 2:
        head = f"for (int {name} = 0, {other} = {most}; {name} < {most}; {other}--, {name}++)"
    else:
        head = f"for (int {other} = {most}, {name} = 0; {other} > {name}; {other} -= 2)"
    own.lines.open(head)
    own.counters += [name, other]
    _inside(own, 0)
    own.counters.remove(other)
    own.close_loop(name)


def changed_counter(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    own.open_loop(f"for (int {name} = 0; {name} < {_bound(own)}; {name}++)", name)
    _inside(own, 0)
    if own.choose.random() < 0.3:
        outer = own.counters[0]
        own.alike = False
        own.lines.add(f"if ({outer} > 2) {name}++;")
    else:
        own.lines.add(own.choose.choice([f"{name}++;", f"{name} += 2;", f"++{name};"]))
    own.close_loop(name)


def changed_bound(own: Builder, depth: int) -> None:
    name, end = own.fresh("j"), own.fresh("e")
    own.lines.add(f"int {end} = {own.choose.randint(5, 12)};")
    own.open_loop(f"for (int {name} = 0; {name} < {end}; {name}++)", name)
    _inside(own, 0)
    form = own.choose.randrange(4)
    own.lines.add(
        [f"{end}--;", f"if ({name} == 2) {end} = 4;", f"*&{end} = {end} - 1;",
         f"put_number(&{end}, {end} - 1);"][form]
    )  # fmt: skip
    own.close_loop(name)


def changed_step(own: Builder, depth: int) -> None:
    name, step = own.fresh("j"), own.fresh("d")
    own.lines.add(f"int {step} = 1;")
    own.open_loop(f"for (int {name} = 0; {name} < {_bound(own)}; {name} += {step})", name)
    _inside(own, 0)
    own.lines.add(own.choose.choice([f"{step}++;", f"{step} += {step};", f"{step} = 2;"]))
    own.close_loop(name)


def growing(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    most = own.choose.choice([str(own.choose.randint(3, 40)), _bound(own, 4, 30)])
    move = own.choose.choice([f"{name} += {name}", f"{name} *= 2", f"{name} <<= 1",
                              f"{name} = {name} * 3", f"{name} = 2 * {name} + 1"])  # fmt: skip
    own.open_loop(f"for (int {name} = 1; {name} < {most}; {move})", name)
    _inside(own, 0)
    own.close_loop(name)


def shrinking(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    move = own.choose.choice([f"{name} /= 2", f"{name} >>= 1", f"{name} = {name} / 3"])
    own.open_loop(f"for (int {name} = {_bound(own, 4, 40)}; {name} > 0; {move})", name)
    _inside(own, 0)
    own.close_loop(name)


def counted_down(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    start = _bound(own)
    form = own.choose.randrange(6)
    if form == 0:
        head = f"for (int {name} = {start}; {name}-- > 0; )"
    elif form == 1:
        head = f"for (int {name} = {start}; {name}--; )"
    elif form == 2:
        head = f"for (int {name} = {start}; {name}-- > 0; {name}--)"
    elif form == 3:
        head = f"for (unsigned {name} = {start}; {name} < 100u; {name}--)"
    elif form == 4:
        head = f"for (unsigned char {name} = 250; {name} != 4; {name}++)"
    else:
        head = f"for (unsigned {name} = {start}; {name} > 0; {name}--)"
    counter = None if form == 4 else name
    own.open_loop(head, counter)
    _inside(own, depth if form in (0, 1, 5) else 0)
    own.close_loop(counter)


def wrapping(own: Builder, depth: int) -> None:
    """Unsigned differences and narrow counters that pass zero or their type's end."""
    name = own.fresh("j")
    most = own.choose.randint(3, 9)
    head = own.choose.choice([
        f"for (unsigned {name} = 0; {name} < {most}u - 2u; {name}++)",
        f"for (unsigned {name} = 0; {name} + 1 < {most}u; {name}++)",
        f"for (unsigned char {name} = {most}; {name} < 240; {name} -= 2)",
        f"for (signed char {name} = {100 + most}; {name} > 0; {name}++)",
        f"for (unsigned short {name} = {most}; {name} <= {most}; {name}--)",
        f"for (int {name} = -1; {name} < {most}u; {name}++)",
        f"for (int {name} = {most}; {name} > -3; {name}--)",
    ])  # fmt: skip
    counter = name if "signed char" not in head and "= -1" not in head else None
    own.open_loop(head, counter)
    _inside(own, 0)
    own.close_loop(counter)


def by_while(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    own.lines.add(f"int {name} = 0;")
    own.lines.open(f"while ({name} < {_bound(own)})")
    own.counters.append(name)
    _inside(own, depth)
    own.counters.remove(name)
    own.lines.add(own.choose.choice([f"{name}++;", f"{name} += 2;"]))
    own.lines.close()


def by_do(own: Builder, depth: int) -> None:
    name = own.fresh("j")
    own.lines.add(f"int {name} = {own.choose.choice([0, 0, 5])};")
    own.lines.open("do")
    own.counters.append(name)
    _inside(own, depth)
    own.counters.remove(name)
    own.lines.add(f"{name}++;")
    own.lines.close(f"}} while ({name} < {own.choose.randint(1, 9)});")


def by_goto(own: Builder, depth: int) -> None:
    name, label = own.fresh("j"), own.fresh("again")
    own.lines.add(f"int {name} = 0;")
    own.lines.add(f"{label}: ;")
    own.counters.append(name)
    own.values.counters = tuple(own.counters)
    own.lines.statement(assign(own.place(), own.values.value(1)))
    own.counters.remove(name)
    own.lines.add(f"{name}++;")
    own.lines.add(f"if ({name} < {own.choose.randint(2, 9)}) goto {label};")


def left_early(own: Builder, depth: int) -> None:
    """A `break` by the counter or by data, a second condition, a `continue`."""
    name = own.fresh("j")
    form = own.choose.randrange(4)
    most = own.choose.randint(5, 12)
    if form == 0:
        own.open_loop(f"for (int {name} = 0; {name} < {most} && {name} != 7; {name}++)", name)
        _inside(own, 0)
        own.close_loop(name)
        return
    own.open_loop(f"for (int {name} = 0; {name} < {most}; {name}++)", name)
    own.values.counters = tuple(own.counters)
    own.alike = False
    if form == 1:
        own.statements(1)
        own.lines.add(f"if ({name} == {own.choose.randint(2, 20)}) break;")
    elif form == 2:
        own.statements(1)
        own.lines.add(f"if (x[{name} + 3] > 1.5) break;", f"if (x[{name} + 3] > 1.5) break;")
        own.statements(1)
    else:
        hidden = own.lines.hidden()
        own.lines.add(f"if (({name} + {own.counters[0]}) % 3 == 1) continue;")
        own.lines.within.append([hidden])
        own.lines.statement(assign(own.place(), own.values.value(1)))
        own.lines.within.pop()
    own.close_loop(name)


def pointer(own: Builder, depth: int) -> None:
    """A pointer as loop variable, or one that advances in the body or the header."""
    name, at = own.fresh("p"), own.fresh("j")
    outer = own.choose.choice(own.counters)
    count = own.choose.randint(3, 12)
    row = own.choose.choice(["A[5]", f"A[{outer}]", f"x + 3 * {outer}", "y"])
    form = own.choose.randrange(5)
    if form == 0:
        head = f"for (double *{name} = {row}; {name} < {row} + {count}; {name}++)"
        own.open_loop(head, None)
        place = f"*{name}"
    elif form == 1:
        own.lines.add(f"double *{name} = {row};")
        head = f"for (int {at} = 0; {at} < {count}; {at}++, {name}++)"
        own.open_loop(head, at)
        place = f"*{name}"
    elif form == 2:
        own.lines.add(f"double *{name} = {row};")
        own.open_loop(f"for (int {at} = 0; {at} < {count}; {at}++)", at)
        place = f"*{name}++"
    elif form == 3:
        own.lines.add(f"double *{name} = {row} + {own.choose.randint(0, 3)};")
        own.open_loop(f"for (int {at} = 0; {at} < {count}; {at} += 2)", at)
        place = f"{name}[{at}]"
    else:
        own.kinds.add("members")
        own.lines.add(f"struct point *{name} = cells + {outer};")
        own.open_loop(f"for (int {at} = 0; {at} < 3; {at}++)", at)
        place = own.choose.choice([f"{name}->v[{at}]", f"(*{name}).v[{at}]", f"{name}->m"])
    own.values.counters = tuple(own.counters)
    own.lines.statement(assign(place, own.values.value(1)))
    own.close_loop(None if form == 0 else at)


def float_view(own: Builder, depth: int) -> None:
    name, at = own.fresh("p"), own.fresh("j")
    count = own.choose.randint(3, 20)
    own.lines.add(f"float *{name} = (float *)y;")
    own.open_loop(f"for (int {at} = 0; {at} < {count}; {at}++)", at)
    own.values.counters = ()
    own.lines.statement(assign(f"{name}[{at}]", own.values.value(0)))
    own.close_loop(at)


def compaction(own: Builder, depth: int) -> None:
    """An index that advances in some iterations, or in all."""
    name, at = own.fresh("j"), own.fresh("k")
    own.lines.add(f"int {at} = {own.choose.randint(0, 4)};")
    own.open_loop(f"for (int {name} = 0; {name} < {_bound(own)}; {name}++)", name)
    own.values.counters = tuple(own.counters)
    if own.choose.random() < 0.5:
        own.alike = False
        hidden = own.lines.hidden()
        own.lines.add(f"if (idx[{name}] % 2) {{")
        own.lines.depth += 1
        own.lines.within.append([hidden])
        own.lines.statement(assign(own.at("y", at), own.values.value(1), whole=True))
        own.lines.within.pop()
        own.lines.add(f"{at}++;")
        own.lines.depth -= 1
        own.lines.add("}")
        own.close_loop(name)
        own.lines.statement(assign(own.at("y", at), same("1.0"), whole=True))
        return
    own.lines.statement(assign(own.at("y", at), own.values.value(1)))
    own.lines.statement(own.choose.choice([stepped(at), set_scalar(at, "+", same("3"))]))
    own.lines.statement(assign(own.at("x", at), own.values.value(0)))
    own.close_loop(name)
    own.lines.statement(assign(own.at("y", f"{at} + 5"), same("1.0")))


def after_its_loop(own: Builder, depth: int) -> None:
    """A counter used behind its loop."""
    name = own.fresh("j")
    own.lines.add(f"int {name};")
    head = own.header(name, str(own.choose.randint(0, 6)), str(own.choose.randint(3, 12)),
                      own.choose.choice([1, 1, 2, 3]), kind="")  # fmt: skip
    own.open_loop(head, name)
    _inside(own, 0)
    own.close_loop(name)
    own.lines.statement(assign(own.at("x", f"{name} + 4"), own.values.value(0)))


def unrolled(own: Builder, depth: int) -> None:
    """A loop by fours with its remainder."""
    name, end = own.fresh("j"), own.fresh("e")
    count = _bound(own, 3, 17)
    own.lines.add(f"int {end} = {count};")
    own.lines.add(f"int {name};")
    form = own.choose.randrange(3)
    if form == 0:
        own.lines.add(f"for ({name} = 0; {name} < {end} % 4; {name}++)")
        own.lines.statement(assign(own.at("x", name), same("1.0")))
        own.lines.open(f"for (; {name} < {end}; {name} += 4)")
    else:
        test = f"{name} + 3 < {end}" if form == 1 else f"{name} <= {end} - 4"
        own.lines.open(f"for ({name} = 0; {test}; {name} += 4)")
    for part in range(4):
        own.lines.statement(
            assign(own.at("x", f"{name} + {part}"), read(own.at("y", f"{name} + {part}")))
        )
    own.lines.close()
    if form:
        own.lines.add(f"for (; {name} < {end}; {name}++)")
        own.lines.statement(assign(own.at("x", name), read(own.at("y", name))))


def narrow_loop(own: Builder, depth: int) -> None:
    """A local of a narrow type as the bound."""
    name, end = own.fresh("j"), own.fresh("c")
    kind, wraps = own.choose.choice([("unsigned char", 256), ("unsigned short", 65536),
                                     ("signed char", 256)])  # fmt: skip
    own.lines.add(f"{kind} {end} = {own.choose.randint(2, 12)} + {wraps};")
    own.open_loop(f"for (int {name} = 0; {name} < {end}; {name}++)", name)
    _inside(own, depth)
    own.close_loop(name)


def empty_mostly(own: Builder, depth: int) -> None:
    """Loops that run in few iterations of those around them, or in none."""
    name = own.fresh("j")
    outer = own.choose.choice(own.counters)
    form = own.choose.randrange(4)
    head = [
        f"for (int {name} = {outer} + 4; {name} < 9; {name}++)",
        f"for (int {name} = {own.choose.randint(5, 9)}; {name} < {own.sizes.name_of(3)}; {name}++)",
        f"for (int {name} = 2 * {outer}; {name} < {outer} + 3; {name}++)",
        f"for (int {name} = {outer} - 5; {name} > 0; {name}--)",
    ][form]
    own.open_loop(head, name)
    _inside(own, depth)
    own.close_loop(name)


def divided_bounds(own: Builder, depth: int) -> None:
    """Quotients and remainders of what moves, negative at times."""
    name = own.fresh("j")
    outer = own.choose.choice(own.counters)
    shift, by = own.choose.randint(-9, 6), own.choose.randint(2, 4)
    moved = f"({outer} {'+' if shift >= 0 else '-'} {abs(shift)})"
    op = own.choose.choice("/%")
    if own.choose.random() < 0.5:
        head = (
            f"for (int {name} = {moved} {op} {by}; {name} < {own.choose.randint(2, 7)}; {name}++)"
        )
    else:
        head = f"for (int {name} = 0; {name} < {moved} {op} {by} + 3; {name}++)"
    own.open_loop(head, name)
    if op == "/":
        _inside(own, 0)
    else:
        own.lines.statement(assign(own.at("x", f"{name} + 20"), same("2.0")))
    own.close_loop(name)


COMMON: tuple[Form, ...] = (plain, plain, plain, plain, triangular, banded, tiled, pointer)
INNER: tuple[Form, ...] = (
    plain, plain, plain, plain, plain, plain, plain, plain, plain, triangular, triangular,
    triangular, triangular, banded, tiled, two_variables, changed_counter, changed_bound,
    changed_step, growing, shrinking, counted_down, wrapping, by_while, by_do, by_goto, left_early,
    pointer, pointer, float_view, compaction, after_its_loop, unrolled, narrow_loop, empty_mostly,
    divided_bounds,
)  # fmt: skip
_ = (C, binary)
