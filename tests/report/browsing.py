"""A page in a real browser."""

from contextlib import contextmanager
from pathlib import Path


def show(browser, path, *, scheme, width):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(Path(path).as_uri())
    # what is folded away counts too
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.execute_async_script(
        "const done = arguments[0];"
        "Promise.all([...document.images].map(i => i.decode().catch(() => 0))).then(done)"
    )


@contextmanager
def printed(browser, path):
    """Open a page as it is printed on A4."""
    browser.get(Path(path).as_uri())
    paper = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", paper)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
