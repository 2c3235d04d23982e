"""Checks the names of the pipeline's stages on the command line."""

from __future__ import annotations

from regionpredict.errors import UsageError


def check_stage(stage: str | None) -> None:
    """Raises UsageError for a `--dump` stage that does not exist."""
    from regionpredict.pipeline import STAGES

    if stage is not None and stage not in STAGES:
        raise UsageError(f"--dump {stage}: no such stage", remedy=f"choose {', '.join(STAGES)}")
