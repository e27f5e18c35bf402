"""Takes README's pictures of a report's first board: docs/report.png, and docs/report-phone.png for phones.

python docs/site/screenshot.py build/report/index.html    # make screenshot writes this report first
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1]
PICTURES = {"report.png": 830, "report-phone.png": 358}
"""Widths of the window in CSS pixels: those of README on GitHub, so that text keeps its size."""
BROWSERS = ("chromium", "google-chrome", "chromium-browser")


def main() -> None:
    """Writes the pictures."""
    page = Path(sys.argv[1])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("there is no Chromium; install it: apt-get install chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]  # so that it also runs as root, in a container
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        for name, width in PICTURES.items():
            # Two pixels per CSS pixel are sharp on most screens.
            tab = chromium.new_page(viewport={"width": width, "height": 900}, device_scale_factor=2)
            tab.goto(page.resolve().as_uri())
            tab.locator("table.board").first.screenshot(path=DOCS / name)
            tab.close()
        chromium.close()


if __name__ == "__main__":
    main()
