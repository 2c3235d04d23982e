"""`--format html` in a real browser: nothing is asked of a network, nothing fails, every control
does what it says, and axe finds nothing serious."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import Opened, blocks_of, data_of, needs_browser
from playwright.sync_api import Browser

from regionpredict.report.html.page import script_json

AWKWARD = """\
#define N 40000000
static double a[N], b[N];
/* </script><script>document.title = "taken"</script> <!-- \u00e4\u4e16\u2028 & "quoted" --> */
void fill(void)
{
    for (int i = 0; i < N; i++) a[i] = b[i] = i;
}
void copy(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void root(int n)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) a[i] = 2.0 * a[i] / b[i];
}
void scale(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = 3.0 * a[i] + 1.0;
}
void sum(void)
{
#pragma omp parallel for
    for (int i = 1; i < N; i++) a[i] += a[i - 1];
}
int main(void) { fill(); copy(); root(900); scale(); sum(); return 0; }
"""


def report(folder: Path, *options: str) -> Path:
    (folder / "awk</script>ward.c").parent.mkdir(parents=True, exist_ok=True)
    (folder / "awk</script>ward.c").write_text(AWKWARD, "utf-8")
    subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "awk</script>ward.c", "-m", "dunnington",
         "--format", "html", "-o", "report.html", *options],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return folder / "report.html"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("report"))


def column(opened: Opened, at: int) -> list[str]:
    rows = opened.page.locator("table[data-name=regions] > tbody > tr:not(.detail)")
    return [row.locator("td").nth(at).inner_text() for row in rows.all()]


def test_data_cannot_end_their_element() -> None:
    text = "</script> <!-- \u2028 & \udce4"
    assert not set("<>&\u2028") & set(script_json([text]))
    assert json.loads(script_json(["</script>&\u2028\u00e4", float("nan"), 1])) == [
        "</script>&\u2028\u00e4", None, 1,
    ]  # fmt: skip


def test_page_names_no_address_and_holds_each_region_once(made: Path) -> None:
    text = made.read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\"'\s)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name of a kind of element
    data = json.dumps(data_of(made))
    assert "document.title" in data
    assert text.count("</script>") == 2


@needs_browser
def test_page_asks_for_nothing_and_says_nothing(browser: Browser, made: Path) -> None:
    opened = Opened(browser, made)
    assert opened.page.title() == "Hints for script>ward.c on dunnington"
    assert opened.page.locator("h2").all_inner_texts() == [
        "Overview", "Loops", "Program", "Parallel regions", "Source", "Roofline", "Assumptions",
    ]  # fmt: skip
    opened.open_all()
    assert (
        'document.title = "taken"' in opened.page.locator("section > details .source").inner_text()
    )
    assert "\u4e16" in opened.page.locator("section > details .source").inner_text()
    assert (opened.said, opened.asked) == ([], [])


@needs_browser
def test_sorting_turns_the_rows(browser: Browser, made: Path) -> None:
    opened = Opened(browser, made)
    regions = opened.page.locator("table[data-name=regions]")
    assert regions.locator("th", has_text="Time on").get_attribute("aria-sort") == "descending"
    (block,) = [one for one in blocks_of(made, "table") if one.get("name") == "regions"]
    by_time = sorted(block["rows"], key=lambda row: -row[9][1])
    assert column(opened, 1) == [row[1] for row in by_time]
    head = regions.locator("th", has_text="Function")
    head.get_by_role("button").press("Enter")  # by the keyboard
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(opened, 1) == ["sum", "scale", "root", "copy"]
    regions.get_by_role("button", name="Iterations").click()
    assert column(opened, 1)[-1] == "root"  # 900 of its iterations, 40 million of the others'


@needs_browser
def test_filters_hide_rows(browser: Browser, made: Path) -> None:
    opened = Opened(browser, made)
    section = opened.page.locator("section", has=opened.page.locator("table[data-name=regions]"))
    section.get_by_label("Filter").fill("SCALE")
    assert column(opened, 1) == ["scale"]
    assert section.locator("output").inner_text() == "1 of 4 rows"
    section.get_by_label("Filter").fill("")
    choice = section.get_by_label("Limited by")
    for limit in choice.locator("option").all_inner_texts()[1:]:
        choice.select_option(limit)
        assert set(column(opened, 7)) == {limit}
    choice.select_option("all")
    assert len(column(opened, 1)) == 4


@needs_browser
def test_rows_open_and_a_hint_in_the_source_leads_to_its_row(browser: Browser, made: Path) -> None:
    opened = Opened(browser, made)
    first = opened.page.locator("table[data-name=regions] button.open").first
    first.press("Enter")
    assert first.get_attribute("aria-expanded") == "true"
    assert opened.page.locator("tr.detail").count() == 1
    assert opened.page.locator("tr.detail svg[role=img]").count() >= 2
    first.press("Enter")
    assert opened.page.locator("tr.detail").count() == 0
    opened.page.locator("details.file > summary").click()
    opened.page.get_by_label("why: line 20").click()
    focused = opened.page.evaluate("document.activeElement.textContent")
    assert focused.endswith(":20")
    assert "omp parallel for in scale" in opened.page.locator("tr.detail").inner_text()


@needs_browser
def test_a_curve_gives_its_values_and_zooms(browser: Browser, made: Path) -> None:
    """By pointer and by keys; a drag shows a part, Escape the whole."""
    opened = Opened(browser, made)
    opened.page.locator("table[data-name=regions] button.open").first.click()
    figure = opened.page.locator("tr.detail figure").first
    plot, readout = figure.locator(".plot svg"), figure.locator(".readout")
    plot.press("ArrowRight")
    assert readout.inner_text().startswith("threads 1: speedup 1 ")
    plot.press("ArrowRight")
    assert readout.inner_text().startswith("threads 2: speedup ")
    box = plot.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    opened.page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + box["width"] * 0.6, middle)
    opened.page.mouse.up()
    whole = figure.get_by_role("button", name="Show all")
    assert whole.is_visible()
    plot.press("ArrowRight")
    assert not readout.inner_text().startswith("threads 1:")
    plot.press("Escape")
    assert not whole.is_visible()
    opened.hold()


@needs_browser
def test_colours_follow_the_system_and_the_button(browser: Browser, made: Path) -> None:
    opened = Opened(browser, made, scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    dark = opened.page.evaluate(back)
    button = opened.page.locator("#theme")
    button.click()
    assert button.inner_text() == "Colors: light"
    assert opened.page.evaluate(back) == "rgb(255, 255, 255)" != dark
    button.click()
    assert opened.page.evaluate(back) == dark
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(back) == "rgb(255, 255, 255)"
    assert not opened.page.locator("nav").is_visible()


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_accessible_and_as_wide_as_the_screen(
    browser: Browser, made: Path, width: int, scheme: str
) -> None:
    opened = Opened(browser, made, width, scheme)
    opened.open_all()
    opened.hold()


@needs_browser
def test_what_open_sizes_decide_has_numbers_as_in_the_terminal(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text(
        "void f(int n, double *a) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] += 1;\n}\n"
    )
    command = [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington"]
    page = [*command, "--format", "html", "-o", "report.html"]
    subprocess.run(page, cwd=tmp_path, capture_output=True, text=True, check=True)
    opened = Opened(browser, tmp_path / "report.html")
    row = opened.table("Loops, by time: open one for its curve, roofline, source and derivation")[0]
    assert row[5] == "2" and all(cell and "?" not in cell for cell in row[4:9])
    said = opened.page.locator("main").inner_text()
    assert (
        "Set this size, and the hints of 1 of 1 loop no longer depend on "
        "assumed sizes (now 0): --set n=..." in said
    )
    assert "1 row" in said and "1 rows" not in said
    opened.hold()


BY_HAND = """\
#include <omp.h>
void f(double *a)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) a[i] += 1;
}
void g(const int *first, double *a)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        for (int i = first[t]; i < first[t + 1]; i++) a[i] += 1;
    }
}
"""


def test_a_page_notes_what_the_run_noted(tmp_path: Path) -> None:
    """The loop that threads share by their numbers is no region: else nothing on it tells of it."""
    (tmp_path / "f.c").write_text(BY_HAND)
    command = [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington"]
    page = [*command, "--format", "html", "-o", "report.html"]
    made = subprocess.run(page, cwd=tmp_path, capture_output=True, text=True, check=True)
    (noted,) = [told for told in made.stderr.splitlines() if "RP110" in told]
    sections = data_of(tmp_path / "report.html")["sections"]
    assert isinstance(sections, list)
    (notes,) = [section for section in sections if section["title"] == "Notes"]
    assert notes["blocks"] == [{"kind": "list", "items": [noted]}]


def test_packages_are_counted_as_hints_count_them(made: Path) -> None:
    """From 1 on: a hint of 2 packages ends in package 2."""
    curves = [block for block in blocks_of(made, "curve") if block["zones"]]
    assert curves
    for block in curves:
        labels = [zone["label"] for zone in block["zones"]]
        assert labels == [f"package {number}" for number in (1, 2, 3, 4)]
        assert [zone["short"] for zone in block["zones"]] == ["1", "2", "3", "4"]


@needs_browser
def test_the_band_of_a_curve_is_in_its_legend(made: Path, browser: Browser) -> None:
    opened = Opened(browser, made)
    opened.open_all()
    title = opened.page.get_by_text("Speedup", exact=True)
    figures = opened.page.locator("figure").filter(has=title)
    assert figures.count() == 4  # one for each region
    for figure in figures.all():
        assert "80 % of measured speedups are inside" in figure.locator(".legend").inner_text()
