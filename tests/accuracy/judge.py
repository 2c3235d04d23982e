"""One case held against one curve: errors, class, point, choice, regret."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from measured import Case, DataSet
from metrics import relative_errors
from predictor import Times, machine_named, point_of

from regionpredict.predict.hints import Hint

ALLOWED = 0.95
"""A choice is right from this share of the best measured speed on."""
SATURATING = 0.75
"""A curve saturates whose point is at most this share of the cores in question."""


class Judged(NamedTuple):
    """None where the case has no such thing: a single time has no class, one package no choice.

    `top` is (predicted, measured) of what is ranked: the speedup on the most threads, or the time.
    `cores` is the share of the measured threads that the choice takes, `inside` that of the
    measured points inside the band. `doubts` are the ids of those that lower the `confidence`.
    """

    label: str
    time_error: float | None
    speedup_error: float | None
    saturating_right: bool | None
    point_right: bool | None
    right: bool | None
    regret: float | None
    cores: float | None
    top: tuple[float, float] | None
    confidence: float
    inside: float | None = None
    doubts: tuple[str, ...] = ()


def judge(
    case: Case, data: DataSet, curve: Times, confidence: float, factor: float = 1.0,
    choice: int | None = None, inside: float | None = None,
) -> Judged:  # fmt: skip
    """The case against a curve of times; `factor` makes them comparable where units differ.

    `choice` is the number of packages or threads that is chosen, by default by the curve alone;
    `inside` the share of the measured points inside the curve's band, where it has one.
    """
    measured = {t: v for t, v in case.measured.items() if t in curve}
    base = min(measured)
    errors = relative_errors(curve, measured, base)
    compared = case.absolute or data.common_factor
    times = [abs(factor * curve[t] / v - 1.0) for t, v in measured.items()]
    same_class = same_point = None
    if data.saturates and len(measured) >= 4:
        most = max(measured)
        true = point_of(measured)
        made = point_of({t: curve[t] for t in measured})
        same_class = (true <= SATURATING * most) == (made <= SATURATING * most)
        counts = sorted(measured)
        steps = abs(counts.index(true) - counts.index(made))
        same_point = abs(true - made) <= 1 or steps <= 1
    if choice is None:
        choice = curve_choice(case, data, curve)
    outcome = choice_of(case, data, choice)
    last = max(measured)
    top = (
        (curve[base] / curve[last], measured[base] / measured[last])
        if errors
        else (curve[base], measured[base])
    )
    return Judged(
        case.label,
        median(times) if compared else None,
        median(errors) if errors else None,
        same_class,
        same_point,
        *outcome,
        top,
        confidence,
        inside,
    )


def choice_of(
    case: Case, data: DataSet, choice: int
) -> tuple[bool | None, float | None, float | None]:
    """(right, regret, share of the threads taken) of a choice of packages or threads."""
    if data.choice == "none" or len(case.measured) < 2:
        return None, None, None
    options = options_of(case, data)
    taken = choice
    if taken not in options:
        taken = max(option for option in options if option <= taken)
    best = min(time for time, _ in options.values())
    time, threads = options[taken]
    most = max(case.measured)
    return time <= best / ALLOWED, time / best, threads / most


def options_of(case: Case, data: DataSet) -> dict[int, tuple[float, int]]:
    """What can be chosen, with its measured time and the threads that are then in use."""
    if data.choice == "threads":
        return {t: (time, t) for t, time in case.measured.items()}
    cores = machine_named(case.machine).cores_per_package
    options: dict[int, tuple[float, int]] = {}
    for threads, time in sorted(case.measured.items()):
        number = -(-threads // cores)
        if number not in options or time < options[number][0]:
            options[number] = (time, min(number * cores, max(case.measured)))
    return options


def model_choice(data: DataSet, hint: Hint) -> int:
    """The packages or threads of a hint, whichever is chosen in the data set."""
    return hint.packages if data.choice == "packages" else hint.threads


def curve_choice(case: Case, data: DataSet, curve: Times) -> int:
    """The fewest packages, and threads, within 5 % of a curve's best speed at measured threads."""
    cores = machine_named(case.machine).cores_per_package
    enough = min(curve[t] for t in case.measured if t in curve) / ALLOWED
    good = [t for t in case.measured if t in curve and curve[t] <= enough]
    packages = min(-(-t // cores) for t in good)
    if data.choice == "packages":
        return packages
    return min(t for t in good if -(-t // cores) == packages)


def constant_choices(data: DataSet) -> dict[str, Callable[[Case], int]]:
    """The choices that look at nothing, by name."""
    if data.choice == "packages":
        return {
            "always all packages": lambda case: max(options_of(case, data)),
            "always one package": lambda case: min(options_of(case, data)),
        }
    if data.choice == "threads":
        return {
            "always all threads": lambda case: max(case.measured),
            "always half the threads": lambda case: max(
                t for t in case.measured if t <= max(2, max(case.measured) // 2)
            ),
        }
    return {}
