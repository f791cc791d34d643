"""A page as HTML or Markdown."""

import base64
import re
from dataclasses import replace
from importlib import resources
from typing import Any

from featsieve.report.page import Details, Gallery, Page

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def render_html(page: Page) -> str:
    """Render a page as one self-contained HTML document."""
    environment = _environment(autoescape=True)
    from markupsafe import Markup

    environment.filters["data_uri"] = _data_uri
    css = _files().joinpath("page.css").read_text("utf-8")
    template = environment.get_template("bench.html.j2")
    return template.render(page=page, css=Markup(css)) + "\n"


def render_markdown(page: Page) -> str:
    """Render a page as Markdown: tables and sentences.

    Figures are left out (wide ones leave their descriptions), and so is what is folded away.
    """
    environment = _environment(autoescape=False)
    environment.filters["md"] = escape_markdown
    environment.filters["fenced"] = lambda text: text.replace("```", "'''")
    compact = _without_figures(page)
    template = environment.get_template("bench.md.j2")
    text = template.render(page=compact, left_out=compact != page)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def escape_markdown(text: str) -> str:
    r"""Write text so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _without_figures(page: Page) -> Page:
    """Leave out what only the HTML page shows; a section of nothing else goes with it."""
    sections = []
    for section in page.sections:
        kept = tuple(
            block
            for block in section.blocks
            if not isinstance(block, Details) and (not isinstance(block, Gallery) or block.wide)
        )
        if kept or not section.blocks:
            sections.append(replace(section, blocks=kept))
    return replace(page, sections=tuple(sections))


def _files() -> Any:
    """Where the templates are, also inside an installed wheel."""
    return resources.files("featsieve.report").joinpath("templates")


def _environment(*, autoescape: bool) -> Any:
    """Make the template engine."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'featsieve[bench]'.") from error
    loader = jinja2.FunctionLoader(lambda name: _files().joinpath(name).read_text("utf-8"))
    return jinja2.Environment(
        loader=loader, autoescape=autoescape, undefined=jinja2.StrictUndefined
    )


def _data_uri(svg: str) -> str:
    """Put an SVG into an address."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")
