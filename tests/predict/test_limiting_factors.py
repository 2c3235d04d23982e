"""The class of a hint, from terms made up by hand."""

from __future__ import annotations

import pytest

from regionpredict.predict.curve import Point
from regionpredict.predict.limiting_factors import bottleneck_of

CLASSES = ("compute", "cache", "memory-bandwidth", "imbalance", "overhead", "serialization")


def point(threads: int, base: float, **terms: float) -> Point:
    named = {name: terms.get(name.split("-", maxsplit=1)[0], 0.0) for name in CLASSES}
    seconds = sum(named.values())
    label = max(named, key=lambda name: named[name])
    return Point(threads, seconds, base / seconds, label, named, 0.0, 0.0)


@pytest.mark.parametrize(
    ("on_four", "name"),
    [
        ({"compute": 0.25}, "compute"),
        ({"compute": 0.25, "imbalance": 0.19}, "imbalance"),  # a triangle: most is still compute
        ({"compute": 0.25, "overhead": 3.0}, "overhead"),
        ({"compute": 0.25, "serialization": 0.8}, "serialization"),
        ({"compute": 0.25, "cache": 2.0}, "cache"),  # lines that the threads take from each other
        ({"compute": 0.05, "memory": 0.6}, "memory-bandwidth"),
    ],
)
def test_the_largest_loss_names_the_class(on_four, name):
    one = point(1, 1.0, compute=1.0)
    assert bottleneck_of([one, point(4, 1.0, **on_four)]) == name


def test_what_scales_is_named_after_what_it_does():
    one = point(1, 1.0, memory=0.7, compute=0.3)
    assert bottleneck_of([one, point(4, 1.0, memory=0.175, compute=0.075, overhead=0.01)]) == (
        "memory-bandwidth"
    )


def test_a_saturated_path_is_the_loss_though_compute_is_the_larger_term():
    one = point(1, 1.0, compute=0.9, memory=0.1)
    # compute divides to 0.225, memory does not divide at all
    assert bottleneck_of([one, point(4, 1.0, compute=0.225, memory=0.1)]) == "memory-bandwidth"


def test_one_number_of_threads_says_what_it_spends_its_time_on():
    assert bottleneck_of([point(1, 1.0, cache=0.6, compute=0.4)]) == "cache"


@pytest.mark.parametrize(("speedup", "name"), [(3.2, "compute"), (3.19, "overhead")])
def test_four_fifths_of_the_ideal_is_scaling(speedup: float, name: str) -> None:
    """On four threads; just below, the largest loss has its name: 0.06 of each term at least."""
    one = point(1, 1.0, compute=0.9, overhead=0.1)
    lost = 1.0 / speedup - 0.225
    four = point(4, 1.0, compute=0.225, overhead=lost)
    assert bottleneck_of([one, four._replace(speedup=speedup)]) == name


def test_the_ideal_is_counted_from_the_fewest_threads_known() -> None:
    """From 2 threads to 8 is four times; from one thread it would be eight."""
    two = point(2, 1.0, compute=0.4, overhead=0.1)._replace(speedup=2.0)
    eight = point(8, 1.0, compute=0.1, overhead=0.05)
    assert bottleneck_of([two, eight._replace(speedup=6.4)]) == "compute"  # 0.8 of 8
    assert bottleneck_of([two, eight._replace(speedup=6.3)]) == "overhead"
    # 0.4 divided by four leaves 0.1: a loss of 0.05; 0.1 leaves 0.025: a loss of 0.02
    worse = point(8, 1.0, compute=0.15, overhead=0.045)
    assert bottleneck_of([two, worse._replace(speedup=4.0)]) == "compute"


def test_the_same_number_of_threads_twice_is_one_number() -> None:
    one = point(4, 1.0, cache=0.6, overhead=0.7)
    assert bottleneck_of([one, one._replace(speedup=0.5)]) == "cache"
