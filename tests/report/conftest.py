import os
import shutil
import tempfile

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="package")
def browser():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        if os.environ.get("FEATSIEVE_REQUIRE_BROWSER"):
            pytest.fail("FEATSIEVE_REQUIRE_BROWSER is set, but there is no Chromium with driver")
        pytest.skip("no Chromium with driver")
    from selenium import webdriver

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        session = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        yield session
        session.quit()
