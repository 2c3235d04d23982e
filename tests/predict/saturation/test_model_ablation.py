"""The parts of the model are on unless an experiment switches one off."""

from __future__ import annotations

from dataclasses import fields

from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts


def test_every_part_is_on() -> None:
    assert Parts() == ALL_PARTS
    assert all(getattr(ALL_PARTS, field.name) is True for field in fields(Parts))
