"""`pytest tests/golden --update-golden` writes the expected texts anew; the diff is then read."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="Write the expected dumps of tests/golden anew instead of comparing.",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write instead of compare."""
    return bool(request.config.getoption("--update-golden", default=False))
