"""Replaces the section `corrections` in the text of a machine file."""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.machine.corrections import FACTORS, SCORES, Corrections
from regionpredict.quoting import yaml_text

_DIGITS = 4


def uncorrected(text: str) -> str:
    """Returns the text of a machine file without the section `corrections`."""
    return without_section(text, "corrections")


def amended(text: str, corrections: Corrections, source: str) -> str:
    """Replaces or adds the section `corrections` in the text of a machine file.

    `source` is the source of the factors, in at least two words. Only existing factors are written.
    """
    lines = [
        "corrections:",
        f"  source: {yaml_text(source)}",
        f"  date: {corrections.date}",
        f"  measurements: {yaml_text(corrections.measurements)}",
        f"  programs: {corrections.programs}",
        f"  regions: {corrections.regions}",
        f"  runs: {corrections.runs}",
    ]
    factors = {
        name: number_text(corrections.factors[name].value)
        for name in FACTORS
        if name in corrections.factors
    }
    if factors:
        lines.append(f"  factors: {_inline(factors)}")
    density = _density(corrections)
    if density:
        lines.append(f"  density: {_inline(density)}")
    scores = {
        name: _inline({"before": number_text(pair.before), "after": number_text(pair.after)})
        for name in SCORES
        if (pair := corrections.cross_validated.get(name)) is not None
    }
    if scores:
        lines.append("  cross_validated:")
        lines += [f"    {name}: {pair}" for name, pair in scores.items()]
    return f"{uncorrected(text).rstrip()}\n\n" + "\n".join(lines) + "\n"


def _density(corrections: Corrections) -> dict[str, str]:
    weights = {name: number_text(factor.value) for name, factor in corrections.density.items()}
    if corrections.thresholds:
        bounds = ", ".join(number_text(bound.value) for bound in corrections.thresholds)
        weights["thresholds"] = f"[{bounds}]"
    return weights


def without_section(text: str, key: str) -> str:
    """Removes the top-level section `key` and the blank lines after it.

    >>> without_section("a: 1\\n\\nb:\\n  c: 2\\n# on d\\nd: 3\\n", "b")
    'a: 1\\n\\n# on d\\nd: 3\\n'
    """
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        inside = line.startswith(f"{key}:") or (inside and (line[0] in " \t" or not line.strip()))
        if not inside:
            kept.append(line)
    return "".join(kept)


def number_text(value: float) -> str:
    """Formats a number with four digits in YAML syntax."""
    return f"{value:.{_DIGITS}g}"


def _inline(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in entries.items()) + "}"
