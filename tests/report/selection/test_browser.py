"""The page of a selection in a real browser, used as a reader would use it."""

import base64
import copy
import json
import re
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from featsieve import JASFS, LaplacianScore, StabilitySelection
from featsieve.datasets import make_planted, read_table
from featsieve.report import render_selection, write_selection_report
from featsieve.report.selection.page import table_columns
from featsieve.workflow import save_panel, save_run, select_features
from tests.report.browsing import printed, show
from tests.report.selection.cases import EVIL, stable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write three pages: of a planted table, of one with hostile names, of one without much."""
    folder = tmp_path_factory.mktemp("pages")
    planted = make_planted(70, 120, n_informative=12, n_clusters=3, signal=3.0, random_state=0)
    X = planted.X.copy()
    X[:, 5] = X[:, np.flatnonzero(planted.informative)[0]] + 0.1 * X[:, 5]
    sieve = StabilitySelection(
        JASFS(3, n_features_to_select="auto"), n_subsamples=3, n_features_to_select=13
    )
    sieve.set_params(random_state=0).fit(X)
    write = partial(write_selection_report, sieve, X, y=planted.labels, image_shape=(10, 12))
    write(
        folder / "planted.html",
        feature_names=[f"gene{j}" for j in range(120)],
        sample_names=[f"patient {i}" for i in range(70)],
        about={"title": "Planted", "command": "featsieve select table.csv"},
    )
    write(
        folder / "hostile.html",
        feature_names=[f"{EVIL}{j}" for j in range(120)],
        sample_names=[EVIL] * 70,
        about={"title": EVIL, "command": EVIL, "file": EVIL, EVIL: EVIL},
    )
    small = np.random.default_rng(0).standard_normal((5, 3))
    about = {"n_clusters": 2}
    write_selection_report(LaplacianScore(1).fit(small), small, folder / "small.html", about=about)
    return folder


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    """Write the page of a table with words, an order and dates, which tell three groups."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("words")
    group = rng.integers(0, 3, 60)
    frame = pd.DataFrame({"weight": 4.0 * group + rng.standard_normal(60)})
    frame["coat"] = np.array(["fur", "feathers", "scales"])[group]
    frame["tame"] = np.where(group == 0, "yes", "no")
    days = pd.to_timedelta(400 * group + rng.integers(0, 99, 60), unit="D")
    frame["born"] = (pd.Timestamp("2001-01-01") + days).strftime("%d %B %Y")
    for name in ("noise", "more noise"):
        frame[name] = rng.standard_normal(60)
    frame.to_csv(folder / "animals.csv", index=False)
    table = read_table(folder / "animals.csv", encode=True)
    run = select_features(table, n_clusters=3, n_features=4, n_subsamples=0)
    assert set(run.selected) == {"weight", "coat", "tame", "born"}
    return save_run(run, folder / "out", source=folder / "animals.csv")["report"]


def strip_of(browser, name):
    path = f"//figure[h3[normalize-space()='{name}']]//*[name()='svg']"
    return browser.find_element(By.XPATH, path)


def test_words_are_shown_as_words(browser, encoded):
    """Distributions, table, heat map, correlations, certainty and structure of categories."""
    page = open_still(browser, encoded)
    coat = strip_of(page, "coat")
    words = {text.text for text in coat.find_elements(By.CSS_SELECTOR, "text")}
    assert {"fur", "feathers", "scales"} <= words
    said = coat.accessible_name
    assert all(f"100% {word}" in said for word in ("fur", "feathers", "scales"))
    assert "median" not in said
    tame = strip_of(page, "tame")
    assert {"no", "yes"} <= {text.text for text in tame.find_elements(By.CSS_SELECTOR, "text")}
    assert tame.accessible_name.count("100% no") == 2
    assert re.search(
        r"born, 2001-0\d-\d\d to 2003-\d\d-\d\d;", strip_of(page, "born").accessible_name
    )
    assert strip_of(page, "weight").accessible_name.count("median") == 3
    told = dict(zip(cells(page, "Feature"), cells(page, "Tells cluster"), strict=True))
    assert re.search(r", (often|seldom) (fur|feathers|scales)", told["coat"])
    assert ", often yes" in told["tame"]
    assert all(share.endswith("%") for share in cells(page, "Certain"))
    data = json.loads(find(page, "#data").get_attribute("textContent"))
    heat = data["fields"]["heat"]["names"]
    assert any(name.startswith("coat = ") for name in heat)
    assert len(data["fields"]["cross"]["names"]) == 4
    for css in (
        "[data-field=heat] svg.certainty",
        "[data-field=cross] svg",
        "[data-chart=structure] svg",
    ):
        assert find(page, css).size["height"] > 5, css


@pytest.mark.parametrize(("width", "scheme"), [(380, "light"), (380, "dark"), (1280, "dark")])
def test_words_fit_on_every_screen(browser, encoded, width, scheme):
    show(browser, encoded, scheme=scheme, width=width)
    assert browser.get_log("browser") == []
    root = "document.documentElement"
    assert browser.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")
    # no word below a distribution reaches into the next or out of its picture
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('svg.strip')]"
        ".map(s => [s.getBoundingClientRect().right, [...s.querySelectorAll(':scope > text')]"
        ".map(t => t.getBoundingClientRect())"
        ".map(b => [b.left, b.right])])"
    )
    assert len(boxes) == 4
    for right, words in boxes:
        assert all(after[0] >= before[1] for before, after in pairwise(words))
        assert words[-1][1] <= right + 1
    ink = browser.execute_script(
        "return getComputedStyle(document.querySelector('svg.strip text')).fill"
    )
    assert (sum(map(int, re.findall(r"\d+", ink)[:3])) > 3 * 128) == (scheme == "dark")


def test_words_are_printed(browser, encoded):
    with printed(browser, encoded):
        assert strip_of(browser, "coat").size["height"] > 40
        assert find(browser, "[data-chart=structure] svg").size["height"] > 5  # folded on screens
        right = browser.execute_script(
            "return [...document.querySelectorAll('svg, #table')]"
            ".map(e => e.getBoundingClientRect().right)"
        )
        assert max(right) <= 718


def open_still(browser, path):
    """Open a page that scrolls without moving."""
    show(browser, path, scheme="light", width=1280)
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    light = {"name": "prefers-color-scheme", "value": "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [light, still]})
    return browser


@pytest.fixture
def page(browser, folder):
    return open_still(browser, folder / "planted.html")


def find(browser, css):
    return browser.find_element(By.CSS_SELECTOR, css)


def cells(browser, title):
    """Return the texts of a column of the rows that are shown."""
    return browser.execute_script(
        "const table = document.getElementById('table');"
        "const heads = [...table.tHead.rows[0].cells].map(c => c.textContent.trim());"
        "const i = heads.indexOf(arguments[0]);"
        "return [...table.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[i].textContent)",
        title,
    )


def head(browser, title):
    path = f"//table[@id='table']/thead//button[normalize-space()='{title}']"
    return browser.find_element(By.XPATH, path)


def sorting(browser, title):
    return head(browser, title).find_element(By.XPATH, "..").get_attribute("aria-sort")


def bring(browser, element):
    """Scroll to an element, and wait until that is over."""
    browser.execute_async_script(
        "const [element, done] = arguments; element.scrollIntoView({block: 'center'});"
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))",
        element,
    )


def press(browser, element):
    bring(browser, element)
    element.click()


def hover(browser, element, x=0, y=0):
    bring(browser, element)
    ActionChains(browser).move_to_element_with_offset(element, x, y).perform()


def tip(browser):
    box = browser.find_element(By.ID, "tip")
    return box.text if box.is_displayed() else None


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("planted", 360, "light"), ("planted", 1280, "dark"), ("hostile", 360, "dark"),
     ("small", 1280, "light")],
)  # fmt: skip
def test_pages_open_quietly_in_every_shape(browser, folder, name, width, scheme):
    show(browser, folder / f"{name}.html", scheme=scheme, width=width)
    assert browser.get_log("browser") == []
    requests = [
        json.loads(entry["message"])["message"]["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if json.loads(entry["message"])["message"]["method"] == "Network.requestWillBeSent"
    ]
    assert requests
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)
    # nothing is wider than the page, and what scrolls scrolls in a box of its own
    assert browser.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, paper[4:-1].split(","))) > 3 * 128
    assert light == (scheme == "light")


def test_hostile_names_are_only_text(browser, folder):
    open_still(browser, folder / "hostile.html")
    assert browser.execute_script("return document.scripts.length") == 2
    assert find(browser, "h1").text.startswith("</script><script>alert(1)</script>")
    press(browser, find(browser, "#show-all"))
    names = cells(browser, "Feature")
    assert len(names) == 120
    assert all(name.startswith(EVIL) for name in names)
    hover(browser, find(browser, "[data-view=selected] svg"))
    assert browser.get_log("browser") == []


def test_columns_sort_by_number_not_by_letter(page):
    press(page, find(page, "#show-all"))
    ranks = [int(text) for text in cells(page, "Rank")]
    assert ranks == list(range(1, 121))  # 10 comes after 9
    press(page, head(page, "Rank"))
    assert [int(text) for text in cells(page, "Rank")] == list(range(120, 0, -1))
    assert sorting(page, "Rank") == "descending"
    press(page, head(page, "Separation"))
    values = [float(text) for text in cells(page, "Separation") if text]
    assert values == sorted(values, reverse=True)
    assert min(values) < 0 < max(values)
    assert sorting(page, "Separation") == "descending"
    assert sorting(page, "Rank") is None
    press(page, head(page, "Separation"))
    values = [float(text) for text in cells(page, "Separation") if text]
    assert values == sorted(values)
    press(page, head(page, "Selected in"))
    shares = [int(text.rstrip("%")) for text in cells(page, "Selected in")]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 100
    assert shares[-1] == 0


def test_reasons_can_be_read_without_scrolling_and_narrow_screens_hint_at_more(browser, folder):
    width = "const box = document.querySelector('#table').parentElement; return [box.scrollWidth"
    width += " - box.clientWidth, getComputedStyle(box).backgroundImage.split('gradient').length]"
    for size, fits in ((1280, True), (380, False)):
        show(browser, folder / "planted.html", scheme="light", width=size)
        browser.execute_script("document.querySelector('#show-all').click()")
        beyond, layers = browser.execute_script(width)
        assert (beyond <= 1) == fits
        assert layers > 2  # the shadow, and what covers it where there is no more


def test_searching_shows_what_matches_and_says_how_many(page):
    count = find(page, "#count")
    assert count.get_attribute("aria-live") == "polite"
    assert count.text == "13 selected features."
    press(page, find(page, "#show-all"))
    assert count.text == "120 features."
    box = find(page, "#search")
    box.send_keys("GENE11")
    assert sorted(cells(page, "Feature")) == sorted(["gene11", *(f"gene11{j}" for j in range(10))])
    assert count.text == "11 of 120 features match."
    press(page, find(page, "#show-selected"))
    assert set(cells(page, "Feature")) <= {"gene11", *(f"gene11{j}" for j in range(10))}
    box.clear()
    box.send_keys("cluster 1")
    assert cells(page, "Feature")
    assert all(text.startswith("1, ") for text in cells(page, "Tells cluster"))
    box.clear()
    box.send_keys("no such feature")
    assert cells(page, "Feature") == []
    assert count.text == "0 of 13 selected features match."


def test_names_can_be_copied(page):
    find(page, "#search").send_keys("gene1")
    press(page, find(page, "#copy"))
    page.execute_async_script("setTimeout(arguments[0], 300)")
    assert find(page, "#copy").text == "Copied"
    assert page.get_log("browser") == []


def test_charts_can_be_read_with_the_keyboard(page):
    figure = find(page, "[data-chart=gains]")
    figure.send_keys(Keys.ARROW_RIGHT)
    assert tip(page).startswith("1. ")
    figure.send_keys(Keys.ARROW_RIGHT)
    assert tip(page).startswith("2. ")
    live = page.execute_script("return document.getElementById('live').textContent")
    assert live == tip(page)
    figure.send_keys(Keys.END)
    assert tip(page).startswith("120. ")
    figure.send_keys(Keys.ESCAPE)
    assert tip(page) is None


def test_links_open_what_is_folded(browser, folder):
    browser.get((folder / "planted.html").as_uri())
    chart = find(browser, "[data-chart=criterion]")
    assert not chart.is_displayed()
    link = find(browser, "nav a[href='#number']")
    link.send_keys(Keys.ENTER)
    assert chart.is_displayed()
    assert find(browser, "#table").is_displayed()
    assert not find(browser, "[data-chart=structure]").is_displayed()


def test_what_is_folded_is_printed_and_nothing_is_cut_off(browser, folder):
    with printed(browser, folder / "planted.html"):
        folded = "return [...document.querySelectorAll('details')].filter(d => !d.open).length"
        assert browser.execute_script(folded) >= 4  # the style alone shows their content
        for css in ("[data-chart=criterion] svg", "[data-field=cross] svg"):
            assert find(browser, css).size["height"] > 5, css
        wide = browser.execute_script(
            "const page = document.documentElement.clientWidth;"
            "return [...document.querySelectorAll('#table, svg, p')]"
            ".filter(e => e.getBoundingClientRect().right > page).map(e => e.outerHTML)"
        )
        assert wide == []
        # a command without a blank is broken, and the cards stand in one line
        cut = (
            "const pre = document.querySelector('.command pre'); pre.textContent = 'x'.repeat(999);"
        )
        assert browser.execute_script(f"{cut} return pre.scrollWidth <= pre.clientWidth")
        tops = "[...document.querySelectorAll('.tiles div')].map(e => e.offsetTop)"
        assert len(set(browser.execute_script(f"return {tops}"))) == 1
        browser.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert browser.execute_script(folded) == 0
        browser.execute_script("dispatchEvent(new Event('afterprint'))")
        assert browser.execute_script(folded) >= 4


def test_a_table_with_every_column_fits_on_paper(browser, tmp_path):
    summary = copy.deepcopy(stable()[1])
    rows = summary["features"]
    count = len(rows["name"])
    rows["name"] = [f"od280/od315_of_diluted_wines {j}" for j in range(count)]
    rows["closest"] = rows["name"][::-1]
    rows["correlation"], rows["q_value"], rows["price"] = ([0.011] * count for _ in range(3))
    page = tmp_path / "page.html"
    page.write_text(render_selection(summary), encoding="utf-8")
    with printed(browser, page):
        titles = [c["title"] for c in table_columns(summary)]
        assert {"Selected in", "Certain", "Explained", "q", "Closest selected"} <= {*titles}
        table, box = (find(browser, css).rect for css in ("#table", "#features .scroll"))
        assert table["x"] + table["width"] <= box["x"] + box["width"]


def test_the_heat_map_is_read_by_pointer_and_keyboard(page):
    data = page.execute_script("return JSON.parse(document.getElementById('data').textContent)")
    heat, samples = data["fields"]["heat"], data["map"]
    levels = base64.b64decode(heat["levels"])
    figure = find(page, "[data-field=heat]")

    def expected(row, column):
        i = heat["samples"][column]
        z = 2.0 * (levels[row * heat["width"] + column] - 127) / 127
        sure = f"{100 * samples['certainty'][i]:.0f}% certain"
        who = f"{samples['names'][i]}, cluster {samples['cluster'][i]} ({sure})"
        who += f", class {samples['classes'][samples['class'][i]]}"
        more = " or more" if abs(z) == 2.0 else ""
        return f"{heat['names'][row]}, {who}: {z:+.1f}{more} standard deviations"

    figure.send_keys(Keys.ARROW_RIGHT)
    assert tip(page) == expected(0, 0)
    figure.send_keys(Keys.ARROW_RIGHT)
    figure.send_keys(Keys.ARROW_DOWN)
    assert tip(page) == expected(1, 1)
    live = page.execute_script("return document.getElementById('live').textContent")
    assert live == tip(page)
    figure.send_keys(Keys.END)
    assert tip(page) == expected(len(heat["names"]) - 1, heat["width"] - 1)
    picture = find(page, "[data-field=heat] svg.field")
    width, height = picture.size["width"], picture.size["height"]
    hover(page, picture, 1 - width // 2, 1 - height // 2)
    assert tip(page) == expected(0, 0)
    # a row of the picture is as high as the name beside it
    names = page.find_elements(By.CSS_SELECTOR, "[data-field=heat] li")
    assert [name.text for name in names] == heat["names"]
    assert height == pytest.approx(sum(name.size["height"] for name in names), abs=len(names))


def test_correlations_are_read_as_they_are(page):
    cross = page.execute_script(
        "return JSON.parse(document.getElementById('data').textContent).fields.cross"
    )
    assert len(cross["names"]) == 13
    figure = find(page, "[data-field=cross]")
    figure.send_keys(Keys.ARROW_RIGHT)
    assert tip(page) == f"{cross['names'][0]}, {cross['names'][0]}: r = 1.00"
    figure.send_keys(Keys.ARROW_RIGHT)
    assert tip(page).startswith(f"{cross['names'][0]}, {cross['names'][1]}: r = ")


def test_the_distribution_of_every_feature_is_shown(page):
    titles = [title.text for title in page.find_elements(By.CSS_SELECTOR, ".strips h3")]
    assert titles == cells(page, "Feature")
    for strip in page.find_elements(By.CSS_SELECTOR, "svg.strip"):
        assert strip.accessible_name.count("median") == 3
        assert strip.size["width"] > 180
    sparks = page.find_elements(By.CSS_SELECTOR, "#table .spark")
    assert len(sparks) == 13
    assert all(spark.size["width"] >= 15 for spark in sparks)


def test_samples_are_marked_in_both_views(page):
    find(page, "#find").send_keys("patient 7")
    assert tip(page).startswith("patient 7, cluster ")
    places = page.execute_script(
        "return [...document.querySelectorAll('[data-plot=map] .cursor')].map(c =>"
        " [c.hasAttribute('hidden'), c.getAttribute('cx'), c.getAttribute('cy')])"
    )
    data = page.execute_script(
        "return JSON.parse(document.getElementById('data').textContent).map.views"
    )
    assert places == [
        [False, str(data[name]["x"][7]), str(data[name]["y"][7])] for name in ("selected", "all")
    ]
    find(page, "#find").clear()
    find(page, "#find").send_keys("nobody")
    assert tip(page) is None


def test_samples_can_be_coloured_by_true_class(page, folder):
    shapes = (
        "return [...document.querySelectorAll('[data-view=all] .m')].map(p => p.getAttribute('d'))"
    )
    by_cluster = page.execute_script(shapes)
    html = (folder / "planted.html").read_text(encoding="utf-8")
    view = html[html.index('data-view="all"') :].split("</svg>")[0]
    assert by_cluster == re.findall(r'data-group="\d" d="([^"]+)"', view)  # as the page came
    press(page, find(page, "#by-class"))
    by_class = page.execute_script(shapes)
    assert find(page, "#by-class").get_attribute("aria-pressed") == "true"
    assert sorted(d.count("M") for d in by_class) == [23, 23, 24]  # the planted sizes
    press(page, find(page, "#by-cluster"))
    assert page.execute_script(shapes) == by_cluster


def test_everything_is_there_without_script(browser, folder):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((folder / "planted.html").as_uri())
        text = find(browser, "body").text
        assert len(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr")) == 13
        assert not find(browser, "#search").is_displayed()
        assert "need JavaScript" in text
        pictures = browser.find_elements(By.CSS_SELECTOR, "svg[role=img]")
        assert len(pictures) >= 8 + 13 + 2
        shown = [picture.size["height"] for picture in pictures if picture.is_displayed()]
        assert len(shown) >= 6 + 12 + 1  # the others are folded, and open by their links
        assert min(shown) > 50
        find(browser, "nav a[href='#number']").click()
        assert find(browser, "[data-chart=criterion] svg").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    X = make_planted(60, 20, n_informative=6, n_clusters=3, signal=4.0, random_state=0).X
    run = select_features(np.maximum(X, 0.0), n_clusters=3, n_features=5, n_subsamples=0)
    return save_panel(run, tmp_path_factory.mktemp("panel") / "panel")["index.html"]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 380)])
def test_the_page_of_a_panel_has_its_figures_and_columns(browser, panel, scheme, width):
    show(browser, panel, scheme=scheme, width=width)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('#panel img')].map(i => [i.naturalWidth, i.width])"
    )
    assert len(sizes) == 2
    assert all(natural > 0 and 0 < shown < width for natural, shown in sizes)
    heads = [head.text for head in browser.find_elements(By.CSS_SELECTOR, "#table thead button")]
    assert {"Mean inside", "Cells outside"} <= set(heads)
    assert "# Methods" not in browser.find_element(By.ID, "methods").text
    assert browser.execute_script("return document.body.scrollWidth") <= width
