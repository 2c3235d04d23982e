"""Pages in a real browser, for the tests of all of them: what they say, ask for, and hold."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: see system_packages.sh")
MOST_BYTES = 3 << 20


class Opened:
    """A page with what it said and what it asked for; whatever is not the file is refused."""

    def __init__(self, browser: Browser, file: Path, width: int = 1280, scheme: str = "light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme,  # type: ignore[arg-type]
            bypass_csp=True,  # for axe, which the test brings into the page
        )  # fmt: skip
        self.width = width
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", lambda one: self.said.append(one.text))
        self.page.on("pageerror", lambda one: self.said.append(str(one)))

        def judge(route: Route) -> None:
            if route.request.url == file.as_uri():
                route.continue_()
            else:
                self.asked.append(route.request.url)
                route.abort()

        context.route("**/*", judge)
        self.page.goto(file.as_uri())

    def open_all(self) -> None:
        """Opens every row and every part that is folded, those inside others too."""
        for button in self.page.get_by_role("button", name="Open all shown").all():
            button.click()
        closed = self.page.locator("details:not([open]) > summary")
        self._filled()
        while closed.count():
            closed.first.click()
            if not closed.count():
                self._filled()

    def _filled(self) -> None:
        """Waits for the content of opened parts, which the page makes after they open."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"
        )

    def headings(self) -> list[str]:
        return self.page.locator("h2").all_inner_texts()

    def table(self, title: str) -> list[list[str]]:
        """The cells of the table with this caption, without opened details."""
        found = self.page.locator("table", has=self.page.locator("caption", has_text=title)).first
        rows = found.locator("tbody > tr:not(.detail)").all()
        return [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in rows]

    def hold(self) -> None:
        """Nothing serious by axe, no wider than the screen, no message, no request."""
        found = Axe().run(self.page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found
                   if one["impact"] in ("serious", "critical")]  # fmt: skip
        assert serious == []
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.width
        assert (self.said, self.asked) == ([], [])


def data_of(file: Path) -> dict[str, object]:
    """The data that the page draws."""
    found = re.findall(r'id="data">(.*?)</script>', file.read_text("utf-8"), re.DOTALL)
    assert len(found) == 1
    data: dict[str, object] = json.loads(found[0])
    return data


def blocks_of(file: Path, kind: str) -> list[dict]:
    """All blocks of a kind, those in folded parts and in details of rows too."""
    found = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if value.get("kind") == kind:
                found.append(value)
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    walk(data_of(file))
    return found
