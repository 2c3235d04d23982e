"""One browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from html_pages import CHROMIUM
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield one
        one.close()
