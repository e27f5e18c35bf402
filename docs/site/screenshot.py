"""Makes a picture of a report, from its means down; make screenshot makes docs/report.png with it.

python docs/site/screenshot.py build/report/index.html docs/report.png
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH = 1200  # pixels
HEIGHT = 890
BROWSERS = ("chromium", "google-chrome", "chromium-browser")


def main() -> None:
    """Writes the picture."""
    page = Path(sys.argv[1])
    picture = Path(sys.argv[2])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("there is no Chromium; install it: apt-get install chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]  # so that it also runs as root, in a container
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        tab = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(page.resolve().as_uri())
        means = tab.locator("main section").nth(1).bounding_box()
        top = means["y"] if means else 0.0
        tab.screenshot(
            path=picture, clip={"x": 0, "y": top, "width": WIDTH, "height": HEIGHT}, full_page=True
        )
        chromium.close()


if __name__ == "__main__":
    main()
