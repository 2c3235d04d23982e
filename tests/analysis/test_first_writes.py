"""Who writes memory first, and who last, in flows made up by hand; a line an event.

`share(n)` is a worksharing loop at line n whose arrays are a, b and c, by their names in it.
"""

from __future__ import annotations

import pytest

from regionpredict.analysis.history import first_writes
from regionpredict.analysis.history.first_writes import (
    Before,
    FirstWrite,
    WriteHistory,
    simulate_first_writes,
)
from regionpredict.ir import Span
from regionpredict.ir.flow import Block, CallEvent, Event, Flow, Link, Place, Returned, Write

A, B, C, P = ("::a",), ("::b",), ("::c",), ("p",)
NAMES = (("a", A), ("b", B), ("c", C))


def at(line: int) -> Span:
    return Span("f.c", line)


def share(line: int, *events: Event, names: tuple[tuple[str, Place], ...] = NAMES) -> Block:
    return Block("share", events, at(line), names)


def block(kind: str, line: int, *events: Event) -> Block:
    return Block(kind, events, at(line))


def write(place: Place, line: int = 2, *, sure: bool = True) -> Write:
    return Write(place, sure, at(line))


def call(name: str, *arguments: Place | None, result: Place = ("r",), line: int = 3) -> CallEvent:
    return CallEvent(name, arguments, result, at(line))


def flow(name: str, *events: Event, parameters: tuple[Place, ...] = ()) -> Flow:
    return Flow(name, parameters, events, Span(f"{name}.c", 1))


def program(*events: Event) -> WriteHistory:
    return simulate_first_writes([flow("main", *events)])


def first(followed: WriteHistory, line: int = 9) -> dict[str, tuple[str, bool]]:
    """Who wrote each array first, and whether it is sure, before a loop's only run."""
    (visit,) = followed.first[at(line)]
    return {name: (one.kind, one.sure) for name, one in visit.items() if one is not None}


# -- library functions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "filled"),
    [
        *((name, "a") for name in (
            "memset", "memcpy", "memmove", "bzero", "fread", "__builtin_memset",
            "__builtin_memcpy", "__builtin___memset_chk", "__builtin___memcpy_chk",
        )),
        ("read", "b"), ("pread", "b"),  # behind the file's number
        ("free", ""), ("printf", ""), ("qsort", ""), ("malloc", ""),
    ],
)  # fmt: skip
def test_what_a_library_function_fills(function: str, filled: str) -> None:
    found = first(program(call(function, A, B, C), share(9)))
    assert found == dict.fromkeys(filled, ("serial", True))


def test_fills_without_the_argument_fill_nothing() -> None:
    for arguments in ((), (None, None), (A,)):
        assert first(program(call("read", *arguments), share(9))) == {}
    assert first(program(call("memset"), share(9))) == {}


def test_a_fill_returns_what_it_fills() -> None:
    """`p = memset(a, ...)` and then a serial loop over p: a's memory."""
    events = (call("memset", B, result=P), Link(("q",), ("p", "*"), at(4)))
    found = program(*events, share(9, names=(("b", B), ("q", ("q", "*")))))
    assert first(found) == {"b": ("serial", True), "q": ("serial", True)}


def test_a_function_that_is_not_seen_leaves_doubts() -> None:
    """What it may have written, or gives, is taken to be spread, which is not sure."""
    found = program(call("mystery", A, None, result=P), share(9, names=(*NAMES, ("p", ("p", "*")))))
    assert first(found) == {"a": ("parallel", False), "p": ("parallel", False)}
    (visit,) = found.first[at(9)]
    assert visit["a"] == FirstWrite(
        "parallel", "whether mystery() writes it is unknown", sure=False
    )
    behind = program(call("", A), share(9))
    (visit,) = behind.first[at(9)]
    assert visit["a"] is not None
    assert visit["a"].how == "whether a function called through a pointer() writes it is unknown"
    # A write that is seen afterwards is still in doubt.
    late = program(call("mystery", A), block("loop", 4, write(A)), share(9))
    assert first(late) == {"a": ("serial", False)}


def test_new_memory() -> None:
    """Each call gives other memory; growing keeps it; one function tells it by its argument."""
    slots = (("p", ("p", "*")), ("q", ("q", "*")))
    filled = block("loop", 5, write(("p", "*")))

    def found(*events: Event) -> dict[str, tuple[str, bool]]:
        return first(program(*events, filled, share(9, names=slots)))

    one, other = call("malloc", result=("p",)), call("malloc", result=("q",))
    assert found(one, other) == {"p": ("serial", True)}
    grown = call("realloc", ("p", "*"), result=("q",))
    assert found(one, grown) == {"p": ("serial", True), "q": ("serial", True)}
    for function in ("realloc", "posix_memalign"):
        for arguments in ((), (None,)):
            assert "p" in found(one, call(function, *arguments, result=("q",)))
    told = call("posix_memalign", ("p",))
    assert found(told) == {"p": ("serial", True)}


# -- who runs it ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "kind", "sure"),
    [
        (block("loop", 2, write(A)), "serial", True),
        (block("loop", 2, write(A, sure=False)), "serial", False),
        (block("branch", 2, block("loop", 3, write(A))), "serial", False),
        (block("loop", 2, block("branch", 3, write(A))), "serial", False),
        (block("parallel", 2, block("loop", 3, write(A))), "parallel", False),  # every thread
        (block("parallel", 2, share(3, write(A))), "parallel", True),
        (share(3, write(A)), "serial", True),  # outside any team: one thread
        (block("parallel", 2, block("one", 3, block("loop", 4, write(A)))), "serial", True),
        (block("parallel", 2, block("loop", 3, block("task", 4, write(A)))), "parallel", True),
        (block("loop", 3, block("task", 4, write(A))), "serial", True),
        (block("elsewhere", 2, block("loop", 3, write(A))), "parallel", False),
    ],
)
def test_who_writes_first(before: Block, kind: str, sure: bool) -> None:
    assert first(program(before, share(9)))["a"] == (kind, sure)


def test_one_element_places_no_array() -> None:
    """A write outside any loop is one page at most."""
    assert first(program(write(A), share(9))) == {}
    assert first(program(block("branch", 2, write(A)), share(9))) == {}
    assert first(program(block("parallel", 2, block("task", 3, write(A))), share(9))) == {}


def test_the_first_of_two_writes_counts() -> None:
    serial, spread = block("loop", 2, write(A)), block("parallel", 3, share(4, write(A)))
    assert first(program(serial, spread, share(9))) == {"a": ("serial", True)}
    assert first(program(spread, serial, share(9))) == {"a": ("parallel", True)}


def test_where_it_was() -> None:
    inner = flow("fill", block("loop", 5, write(("x", "*"), 6)), parameters=(("x",),))
    main = flow("main", call("fill", A, line=7), share(9))
    (visit,) = simulate_first_writes([main, inner]).first[at(9)]
    assert visit["a"] is not None
    assert visit["a"].how == (
        "first written by a loop of one thread at f.c:5 in fill(); main() calls fill() at f.c:7"
    )
    (here,) = program(block("parallel", 8, share(9, write(A)))).first[at(9)]
    assert here["a"] == FirstWrite("parallel", "first written here", True, at(9), happens=True)
    (filled,) = program(call("bzero", A, line=4), share(9)).first[at(9)]
    assert filled["a"] is not None
    assert filled["a"].how == "first written by bzero() of one thread at f.c:4 in main()"
    all_of_them = program(block("parallel", 2, block("loop", 3, write(A))), share(9))
    (visit,) = all_of_them.first[at(9)]
    assert visit["a"] is not None and "a loop of all threads at f.c:3" in visit["a"].how


def test_members_lie_in_their_array_of_structs() -> None:
    cells, member = ("::cells", "*"), ("::cells", "*", "[].flux", "[].x")
    found = program(block("loop", 2, write(member)), share(9, names=(("cells", cells),)))
    assert first(found)["cells"][0] == "serial"


# -- calls ----------------------------------------------------------------------------------------


def test_what_a_function_returns() -> None:
    """`q = give(a)` gives a; another gives memory of its own, a new one with each call."""
    give = flow("give", Returned(("x", "*")), Returned(B), parameters=(("x",),))
    fresh = flow("fresh", call("malloc", result=("m",)), Returned(("m", "*")))
    silent = flow("silent", write(C))
    filled = block("loop", 5, write(("q", "*")))
    names = (("a", A), ("q", ("q", "*")), ("w", ("w", "*")))

    def found(*events: Event) -> set[str]:
        main = flow("main", *events, filled, share(9, names=names))
        return set(first(simulate_first_writes([main, give, fresh, silent])))

    assert found(call("give", A, result=("q",))) == {"a", "q"}
    assert found(call("fresh", result=("q",)), call("fresh", result=("w",))) == {"q"}
    assert found(call("silent", result=("q",)), call("silent", result=("w",))) == {"q"}


def test_arguments_by_position() -> None:
    """An address nobody knows leaves its parameter alone; a pointer that is set anew is another."""
    fill = flow("fill", block("loop", 5, write(("y", "*"))), parameters=(("x",), ("y",)))
    assert first(simulate_first_writes([flow("main", call("fill", A, B), share(9)), fill])) == {
        "b": ("serial", True)
    }
    assert first(simulate_first_writes([flow("main", call("fill", A, None), share(9)), fill])) == {}
    assert first(simulate_first_writes([flow("main", call("fill", A), share(9)), fill])) == {}
    lost = (Link(P, A, at(2)), Link(P, None, at(3)), block("loop", 4, write(("p", "*"))))
    assert first(program(*lost, share(9))) == {}
    assert first(program(*lost[::2], share(9))) == {"a": ("serial", True)}


def test_calls_that_recur_end() -> None:
    down = flow("down", call("down"), block("loop", 2, write(A)))
    assert first(simulate_first_writes([flow("main", call("down"), share(9)), down])) == {
        "a": ("serial", True)
    }


def test_calls_in_calls_are_followed_forty_deep() -> None:
    def found(deep: int) -> dict[str, tuple[str, bool]]:
        chain = [flow(f"f{k}", call(f"f{k + 1}")) for k in range(deep)]
        last = flow(f"f{deep}", block("loop", 2, write(A)))
        return first(simulate_first_writes([flow("main", call("f0"), share(9)), *chain, last]))

    assert found(39) == {"a": ("serial", True)}
    assert found(45) == {}


def test_no_more_events_than_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event counts, those inside blocks too: here the loop, its write, and the region."""
    events = (block("loop", 2, write(A)), share(9))
    monkeypatch.setattr(first_writes, "_MAX_EVENTS", 3)
    assert first(program(*events)) == {"a": ("serial", True)}
    monkeypatch.setattr(first_writes, "_MAX_EVENTS", 2)
    assert program(*events).first == {}
    monkeypatch.undo()
    # Of several that nobody calls each has its part.
    roots = [flow(name, *events[:1], share(line)) for name, line in (("f", 9), ("g", 8))]
    for most, seen in ((6, {at(8), at(9)}), (5, set())):
        monkeypatch.setattr(first_writes, "_MAX_EVENTS_IN_ALL", most)
        assert simulate_first_writes(roots).first.keys() == seen


def test_only_what_comes_to_a_region_is_followed() -> None:
    """A function that nobody calls and that has a region is followed by itself."""
    alone = flow("alone", block("loop", 2, write(("x",))), share(9, names=(("x", ("x",)),)))
    assert first(simulate_first_writes([flow("main", write(A)), alone])) == {"x": ("serial", True)}
    called = flow("caller", call("alone"))
    assert first(simulate_first_writes([flow("main", write(A)), called, alone])) == {
        "x": ("serial", True)
    }


# -- who wrote last -------------------------------------------------------------------------------


def before(followed: WriteHistory, line: int = 9) -> dict[str, Before]:
    """Who wrote them; whether they were touched at all is asked by itself."""
    (visit,) = followed.before[at(line)]
    writes = {name: one._replace(touched=False) for name, one in visit.items()}
    return {name: one for name, one in writes.items() if one != Before()}


def team(*events: Event) -> Block:
    return block("parallel", 1, *events)


def test_one_thread_or_a_loop_wrote_last() -> None:
    assert before(program(block("loop", 2, write(A)), share(9))) == {"a": Before(serial=True)}
    spread = team(share(3, write(A)))
    assert before(program(spread, share(9))) == {
        "a": Before(last=(at(3), "a")), "b": Before(since=((at(3), "b"),)),
        "c": Before(since=((at(3), "c"),)),
    }  # fmt: skip
    # A later write takes the place of the one before, and of who has touched it since.
    both = program(spread, block("loop", 4, write(A)), share(9))
    assert before(both)["a"] == Before(serial=True)
    # All threads at once, or one that may not have: nobody is known to have been the last.
    for unknown in (team(block("loop", 4, write(A))), block("loop", 4, write(A, sure=False))):
        assert "a" not in before(program(spread, unknown, share(9)))


def test_what_was_touched_before() -> None:
    """By one thread or by a loop, read or written; not by the region that asks."""
    for events, touched in (
        ((block("loop", 2, write(A)),), True),
        ((team(share(3, names=(("v", A),))),), True),
        ((), False),
    ):
        (visit,) = program(*events, team(share(9, write(A)))).before[at(9)]
        assert visit["a"].touched == touched


def test_what_was_touched_between() -> None:
    """b and c after a, which the region has: in a cache they lie between. Where the region has
    them, too, the first of its own counts, and what one pass goes through together."""
    passes = [share(line, names=((name, place),)) for line, name, place in
              ((3, "u", A), (4, "v", ("::b",)), (5, "w", ("::c",)))]  # fmt: skip
    names = (("a", A),)
    found = program(team(*passes, share(9, names=names)))
    assert set(found.between[at(9)].values()) == {(at(4), "v"), (at(5), "w")}
    assert at(9) not in found.repeats
    both = program(team(*passes, share(9, names=(*names, ("c", ("::c",))))))
    assert set(both.between[at(9)].values()) == {(at(4), "v")}
    late = program(
        team(*passes, share(6, names=(("a", A), ("d", ("::d",)))), share(9, names=names))
    )
    assert set(late.between[at(9)].values()) == {(at(6), "d")}


def test_of_several_runs_the_first_that_has_most_between_tells() -> None:
    asks = share(9, names=(("a", A),))
    one, other = share(3, names=(("u", B),)), share(4, names=(("v", C),))

    def between(*events: Event) -> set[tuple[Span, str]]:
        return set(program(team(*events)).between[at(9)].values())

    assert between(asks, one, asks, other, asks) == {(at(3), "u")}
    assert between(asks, other, asks, one, asks) == {(at(4), "v")}
    assert between(asks, one, asks, one, other, asks) == {(at(3), "u"), (at(4), "v")}
    assert between(asks, one, other, asks, one, asks) == {(at(3), "u"), (at(4), "v")}


def test_who_has_touched_it_since() -> None:
    only_a = (("v", A),)
    events = (share(3, write(A), names=only_a), share(4, names=only_a), share(5, names=only_a))
    found = program(team(*events), share(9))
    assert before(found)["a"] == Before(last=(at(3), "v"), since=((at(4), "v"), (at(5), "v")))


def test_a_region_that_writes_it_first_finds_it_fresh() -> None:
    for events, fresh in (
        ((write(A),), True),
        ((write(A, sure=False),), True),  # the part that it writes
        ((block("branch", 9, write(A)),), False),
        ((), False),
    ):
        found = program(team(share(9, *events)))
        assert before(found).get("a", Before()).fresh == fresh
    assert not before(program(block("loop", 2, write(A)), team(share(9, write(A)))))["a"].fresh


def test_memory_allocated_in_each_turn_of_a_loop_is_fresh_in_each() -> None:
    """Also under a condition, which holds for both the allocation and the write, or for none."""
    block_of_p = (*P, "*")
    makes = call("malloc", result=P)
    uses = team(share(9, write(block_of_p), names=(("p", block_of_p),)))
    for events, fresh in (
        ((block("loop", 2, makes, uses),), True),
        ((block("loop", 2, block("branch", 3, makes, uses)),), True),
        ((block("loop", 2, makes, block("branch", 3, uses)),), False),
        ((makes, block("loop", 2, uses)), False),
    ):
        found = program(*events)
        assert at(9) in found.steady
        assert before(found).get("p", Before()).fresh == fresh


def test_the_second_turn_of_a_loop_is_what_is_told() -> None:
    """Regions at 8 and 9 in turns, both writing a: each finds it as the other has left it."""
    turns = block("loop", 7, team(share(8, write(A)), share(9, write(A))))
    found = program(turns)
    assert before(found, 8)["a"].last == (at(9), "a")
    assert before(found, 9)["a"].last == (at(8), "a")
    # Its own write counts as any; what nobody has written since its last run is not told.
    alone = program(
        block("loop", 2, write(A), write(B)), block("loop", 7, team(share(9, write(A))))
    )
    assert before(alone)["a"].last == (at(9), "a")
    assert (before(alone)["b"].last, before(alone)["b"].serial) == (None, False)
    # What only the first turn finds is kept as the first write.
    assert first(found, 8) == {"a": ("parallel", True)}


def test_two_pointers_change_places() -> None:
    """`y[i] = x[p[i]]` again and again, x and y in turns: what was written is read next."""
    x, y, t = (("x", "*"), ("y", "*"), ("t", "*"))
    swap = (Link(("t",), x, at(11)), Link(("x",), y, at(12)), Link(("y",), t, at(13)))
    names = (("x", x), ("y", y))
    started = (Link(("x",), A, at(1)), Link(("y",), B, at(1)), block("loop", 2, write(A), write(B)))
    turns = block("loop", 8, share(9, write(y, 10), names=names), *swap)
    (past,) = program(*started, turns).before[at(9)]
    assert past["x"].last == (at(9), "y")
    assert past["x"].since == ()  # nobody has read it since
    # What y has now was read as x in the run before, and written by one thread before that.
    assert past["y"].last is None and past["y"].serial
    assert past["y"].since == ((at(9), "x"),)
    still = block("loop", 8, share(9, write(y, 10), names=names))
    (past,) = program(*started, still).before[at(9)]
    assert past["y"].last == (at(9), "y") and past["y"].since == ()
    assert past["x"].last is None and not past["x"].serial  # its own caches have it


def test_a_struct_beyond_the_parameters_goes_nowhere() -> None:
    """`show(a, b)` of `void show(struct s a, ...)`."""
    shown = flow("show", block("loop", 4, write(("a", ".v", "*"))), parameters=(("a",),))
    call_of_two = CallEvent("show", (None, None), ("r",), at(3), values=((0, A), (1, B)))
    names = (("a", (*A, ".v", "*")), ("b", (*B, ".v", "*")))
    written = first(
        simulate_first_writes([flow("main", call_of_two, share(9, names=names)), shown])
    )
    assert set(written) == {"a"}


# -- calls without effects ------------------------------------------------------------------------


def test_calls_without_effects_count_with_all_their_events(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = flow("helper", block("loop", 5, write(("x",))), call("printf"))
    main = flow("main", call("helper"), block("loop", 8, write(A)), share(9))
    # The call and the three events inside, and the loop with its write.
    for most, seen in ((6, True), (5, False)):
        monkeypatch.setattr(first_writes, "_MAX_EVENTS", most + 1)
        visits = simulate_first_writes([main, helper]).first
        assert (at(9) in visits and visits[at(9)][0]["a"] is not None) is seen
