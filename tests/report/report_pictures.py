"""Makes the pictures of docs/report.md again: python tests/report/report_pictures.py FOLDER."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from synthetic_trace import write_archive

SAMPLE = "polybench_samples/linear_algebra/2mm"


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        file = Path(name) / "report.html"
        subprocess.run(
            [sys.executable, "-m", "regionpredict", "predict", SAMPLE, "-m", "dunnington",
             "--format", "html", "-o", str(file)], check=True,
        )  # fmt: skip
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        folder.mkdir(parents=True, exist_ok=True)
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto(file.as_uri())
        page.screenshot(path=folder / "report-light.png")
        page = browser.new_page(viewport={"width": 375, "height": 900}, color_scheme="dark")
        page.goto(file.as_uri())
        page.locator("table[data-name=regions] button.open").first.click()
        page.locator("table[data-name=regions] button.open").first.evaluate(
            "one => one.scrollIntoView({behavior: 'instant'})"
        )
        page.screenshot(path=folder / "report-phone.png")
        trace = Path(name) / "what-if.html"
        subprocess.run(
            [sys.executable, "-m", "regionpredict", "trace", "what-if",
             str(write_archive(Path(name) / "ring", 4, 20)), "--format", "html", "-o", str(trace)],
            check=True,
        )  # fmt: skip
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto(trace.as_uri())
        page.locator("section", has_text="Timeline").screenshot(path=folder / "report-timeline.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
