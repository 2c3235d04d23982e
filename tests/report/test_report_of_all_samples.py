"""The report of all samples, 229 regions, in a real browser: small, quiet, usable on a phone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import MOST_BYTES, Opened, needs_browser
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]
WIDER_THAN_ITS_BOX = """[...document.querySelectorAll(".wide > table")]
    .filter(one => one.offsetWidth > one.parentElement.clientWidth + 1)
    .map(one => one.caption.innerText)"""

pytestmark = needs_browser


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("all") / "report.html"
    command = [sys.executable, "-m", "regionpredict", "predict", "polybench_samples", "npb_samples",
               "-m", "dunnington", "--format", "html", "-o", str(page)]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return page


def rows(opened: Opened) -> int:
    return opened.page.locator("table[data-name=regions] > tbody > tr:not(.detail)").count()


def test_it_is_small_and_holds_on_a_wide_screen(made: Path, browser: Browser) -> None:
    assert made.stat().st_size < MOST_BYTES
    opened = Opened(browser, made)
    assert rows(opened) > 200
    opened.hold()


def test_it_holds_on_a_phone_where_every_table_fits(made: Path, browser: Browser) -> None:
    opened = Opened(browser, made, 375, "dark")
    assert opened.page.evaluate(WIDER_THAN_ITS_BOX) == []
    opened.hold()


def test_its_controls_work(made: Path, browser: Browser) -> None:
    opened = Opened(browser, made)
    page, whole = opened.page, rows(opened)
    regions = page.locator("section", has=page.locator("table[data-name=regions]"))
    regions.get_by_label("Filter").fill("jacobi")
    assert 0 < rows(opened) < 10
    opened.page.get_by_role("button", name="Open all shown").click()
    assert page.locator("tr.detail").count() == rows(opened)
    opened.hold()  # what rows open to, too
    page.get_by_role("button", name="Close all").click()
    assert page.locator("tr.detail").count() == 0
    regions.get_by_label("Filter").fill("")
    assert rows(opened) == whole
    limits = regions.locator("select")
    for choice in limits.locator("option").all_inner_texts()[1:]:
        limits.select_option(choice)
        assert 0 < rows(opened) < whole
    limits.select_option("")
    for head in regions.locator("th button").all():
        head.click()
        assert regions.locator("th[aria-sort]").count() == 1
    links = page.locator("nav a")
    for at in range(links.count()):
        links.nth(at).click()
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    for told, dark in (("light", False), ("dark", True)):  # from the system's, which is light here
        page.locator("#theme").click()
        assert page.locator("#theme").inner_text() == f"Colors: {told}"
        assert (page.evaluate(back) != light) == dark
    for source in page.locator("details.file > summary").all()[:5]:
        source.click()
    # A source is written when its file is told that it is open, behind the click.
    expect(page.locator("details.file[open] .source")).to_have_count(5)
    opened.hold()
