"""Calls that change only their own variables, in flows made up by hand."""

from __future__ import annotations

from regionpredict.analysis.callees import Callees
from regionpredict.analysis.history.effect_free_calls import EffectFree, EffectFreeCalls
from regionpredict.ir import Span
from regionpredict.ir.flow import (
    Block,
    CallEvent,
    Copied,
    Event,
    Flow,
    Link,
    Place,
    Returned,
    Write,
)

HERE = Span("f.c", 1)
OWN, POINTED, GLOBAL = ("x@3:9",), ("p@1:5", "*"), ("::g",)


def call(name: str, *arguments: Place | None, result: Place = OWN) -> CallEvent:
    return CallEvent(name, arguments, result, HERE)


def free(*events: Event, **others: tuple[Event, ...]) -> EffectFree | None:
    """What is known of a function f of these events, among other functions."""
    flows = [Flow(name, (), body, HERE) for name, body in {"f": events, **others}.items()]
    return EffectFreeCalls(Callees(flows)).of(flows[0])


def test_the_events_of_all_blocks_and_calls_are_counted() -> None:
    inner = Block("loop", (Write(OWN, True, HERE), call("g")), HERE)
    # f: a loop, a store, a call, and twice the two events of g.
    known = free(inner, call("g"), g=(Write(OWN, True, HERE), call("printf", POINTED)))
    assert known == EffectFree(4 + 2 * 2, frozenset("fg"), 1, returns=False)


def test_changes_of_memory_outside_the_function_are_effects() -> None:
    for place in (POINTED, GLOBAL):
        assert free(Write(place, True, HERE)) is None
        assert free(Link(place, OWN, HERE)) is None
        assert free(Copied(place, OWN, HERE)) is None
        assert free(call("malloc", result=place)) is None
        assert free(call("g", result=place), g=()) is None
    assert free(Link(OWN, POINTED, HERE), Copied(OWN, GLOBAL, HERE)) is not None


def test_functions_without_a_body_have_effects_on_their_arguments() -> None:
    assert free(call("unknown", POINTED)) is None
    assert free(call("unknown", OWN, None)) is not None
    assert free(call("memcpy", POINTED, OWN)) is None
    assert free(call("memcpy", OWN, POINTED)) is not None
    assert free(call("strlen", POINTED)) is not None


def test_worksharing_and_recursion_are_followed() -> None:
    assert free(Block("share", (), HERE)) is None
    assert free(call("g"), g=(call("f"),)) is None
    assert free(call("g"), g=(Write(GLOBAL, True, HERE),)) is None


def test_a_returned_address_is_known() -> None:
    known = free(Block("branch", (Returned(GLOBAL),), HERE))
    assert known is not None
    assert known.returns
    outer = free(call("g"), g=(Returned(GLOBAL),))
    assert outer is not None
    assert not outer.returns
