"""Make the picture of the README: the top of a report, as the demo writes it.

Run it after `make demo`; it needs the extra `test` (selenium) and Chromium:

    .venv/bin/python docs/picture.py demo-report/planted.html docs/_static/report.png
"""

import sys
from pathlib import Path

from selenium import webdriver

WIDTH, HEIGHT = 1100, 1130


def main(page: str, picture: str) -> None:
    """Open the page in Chromium and save what a reader sees first."""
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(option)
    browser = webdriver.Chrome(options=options)
    try:
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(Path(page).resolve().as_uri())
        browser.save_screenshot(picture)
    finally:
        browser.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
