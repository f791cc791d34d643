import json

import pandas as pd
import pytest

from featsieve.report import write_bench_report
from tests.report.browsing import show
from tests.report.synthetic_rows import frame, paper_like, row

WIDTHS = {"desk": 1280, "phone": 360}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rows = paper_like(("breast3", "palm", "planted_small"))
    rows = rows[~((rows["dataset"] == "palm") & (rows["method"] == "UGFS"))]
    bad = row(dataset="palm", method="UGFS", status="failed", reason="<img src=x onerror=alert(1)>")
    folder = tmp_path_factory.mktemp("report")
    write_bench_report(
        pd.concat([rows, frame([bad])], ignore_index=True),
        folder / "report.html",
        markdown=folder / "report.md",
        title="A report",
    )
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_opens_in_a_browser(browser, report, scheme, width):
    show(browser, report, scheme=scheme, width=width)
    assert browser.title == "A report"
    assert browser.get_log("browser") == []
    images = browser.execute_script(
        "return [...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth])"
    )
    assert len(images) > 40
    assert all(complete and natural > 0 and shown > 0 for complete, natural, shown in images)
    # tables scroll inside their frames, the page does not
    scroll, client = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert scroll <= client


def test_asks_the_network_for_nothing(browser, report):
    show(browser, report, scheme="light", width=1280)
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        message["params"]["request"]["url"].split(":")[0]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    assert asked <= {"file", "data"}
    assert "file" in asked


def test_both_themes_can_be_read(browser, report):
    colours = {}
    for scheme in ("light", "dark"):
        show(browser, report, scheme=scheme, width=1280)
        colours[scheme] = browser.execute_script(
            "const s = getComputedStyle(document.body);"
            "return [s.color, s.backgroundColor].map(t => t.match(/\\d+/g).slice(0, 3)"
            ".reduce((a, b) => a + Number(b), 0))"
        )
    (light_ink, light_page), (dark_ink, dark_page) = colours["light"], colours["dark"]
    assert light_page - light_ink > 500
    assert dark_ink - dark_page > 500


def test_links_lead_somewhere(browser, report):
    show(browser, report, scheme="light", width=1280)
    dangling = browser.execute_script(
        "return [...document.querySelectorAll('a[href^=\"#\"]')]"
        ".map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))"
    )
    assert dangling == []
    doubled = browser.execute_script(
        "const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
        "return ids.filter((id, i) => ids.indexOf(id) !== i)"
    )
    assert doubled == []


def test_markdown_says_the_same(report):
    text = report.with_suffix(".md").read_text(encoding="utf-8")
    assert text.startswith("# A report\n")
    assert len(text.encode()) < 30_000  # it is kept in the documentation
    for heading in ("## Default track", "## Label-free track", "## Oracle track", "## Failures"):
        assert heading in text
    assert "(published 63.37 ± 1.20)" in text
    assert "<img" not in text.replace(r"\<img", "")


def test_the_same_rows_give_the_same_page(tmp_path):
    rows = frame([row(experiment=e, acc_mean=0.5, nmi_mean=0.5, n_features=30)
                  for e in ("default", "grid", "curve")])  # fmt: skip
    for name in ("a.html", "b.html"):
        write_bench_report(rows, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_no_rows_write_nothing(tmp_path):
    with pytest.raises(ValueError, match="no results"):
        write_bench_report(frame([]), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
