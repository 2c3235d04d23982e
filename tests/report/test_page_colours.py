"""The colours of a page's pictures: told from what is behind them, and from each other by all eyes.

Contrast is that of WCAG 2.1 (1.4.11: 3 to 1 for parts of pictures). How people see who lack a kind
of cone is simulated by the matrices of Machado, Oliveira and Fernandes (A physiologically-based
model for simulation of color vision deficiency, IEEE TVCG 15, 2009, severity 1.0), on linear sRGB;
distances are those of CIELAB (1976), of which 2.3 is just noticeable side by side.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import regionpredict.report.html

LEAST_APART = 15.0
SERIES = [f"c{at}" for at in range(6)]
BEHIND = ("back", "plate", "zone0", "zone1")
EYES = {
    "all cones": np.eye(3),
    "no long ones": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                              [-0.003882, -0.048116, 1.051998]]),
    "no middle ones": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                                [-0.011820, 0.042940, 0.968881]]),
    "no short ones": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                               [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip


def blocks() -> dict[str, dict[str, str]]:
    """The colours by name, of each place in the style that sets them all."""
    text = Path(regionpredict.report.html.__file__).with_name("page.css").read_text("utf-8")
    found = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", part)) for part in re.findall(
        r"\{([^{}]*--c0: [^{}]*)\}", text)]  # fmt: skip
    light, dark, chosen, print_ = found
    assert dark == chosen
    return {"light": light, "dark": dark, "print": {**light, **print_}}


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, eyes: str) -> np.ndarray:
    """CIELAB of the colour as these eyes see it."""
    xyz = TO_XYZ @ np.clip(EYES[eyes] @ linear(colour), 0, 1) / np.array([0.95047, 1, 1.08883])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert seen("#ffffff", "all cones") == pytest.approx([100, 0, 0], abs=0.02)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_stands_out_from_what_is_behind_it(scheme: str) -> None:
    colours = blocks()[scheme]
    least = min(contrast(colours[one], colours[behind]) for one in SERIES for behind in BEHIND)
    assert least >= 3.0


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_no_two_colours_are_alike(scheme: str, eyes: str) -> None:
    colours = blocks()[scheme]
    for one, other in itertools.combinations(SERIES, 2):
        apart = np.linalg.norm(seen(colours[one], eyes) - seen(colours[other], eyes))
        assert apart >= LEAST_APART, (one, other, apart)
