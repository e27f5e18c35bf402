"""Makes a picture of the head of a report; make screenshot makes docs/report.png with it.

python docs/screenshot.py build/report/index.html docs/report.png
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1200, 900  # pixels
BROWSERS = ("chromium", "google-chrome", "chromium-browser")


def main() -> None:
    """Writes the picture."""
    page, picture = map(Path, sys.argv[1:])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("there is no Chromium; install it: apt-get install chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]  # so that it also runs as root, in a container
        chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
        tab = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(page.resolve().as_uri())
        tab.screenshot(path=picture)
        chromium.close()


if __name__ == "__main__":
    main()
