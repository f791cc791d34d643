"""Pages: templates for all of them, and those of benchmarks as Markdown."""

import base64
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


@dataclass(frozen=True)
class Entry:
    """A cell of a table."""

    text: str
    note: str = ""
    best: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table: its header, an optional ``tag`` beside it ("control"), its cells."""

    header: str
    entries: tuple[Entry, ...]
    tag: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table; ``head`` names the columns, that of the row headers first."""

    kind: ClassVar[str] = "table"
    caption: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    note_label: str = ""  # what the second lines of its cells are
    words: bool = False  # columns of text, set left


@dataclass(frozen=True)
class Notes:
    """Lines under one title."""

    kind: ClassVar[str] = "notes"
    title: str
    lines: tuple[str, ...]


Block = PageTable | Notes


@dataclass(frozen=True)
class Section:
    """A chapter: its name, a heading, paragraphs, blocks, a list of sentences, a command."""

    name: str
    title: str
    paragraphs: tuple[str, ...]
    blocks: tuple[Block, ...]
    points: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Page:
    """A whole report; ``facts`` are the short lines under its title."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]


def render_markdown(page: Page) -> str:
    """Render a page as Markdown."""
    environment = template_environment(autoescape=False)
    environment.filters["md"] = escape_markdown
    environment.filters["fenced"] = lambda text: text.replace("```", "'''")
    text = environment.get_template("bench.md.j2").render(page=page)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def escape_markdown(text: str) -> str:
    r"""Write text so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def template_text(name: str) -> str:
    """Return a file of the templates, also from inside an installed wheel."""
    folder = resources.files("featsieve.report").joinpath("templates")
    return folder.joinpath(name).read_text("utf-8")


def template_environment(**settings: Any) -> Any:
    """Make the template engine."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'featsieve[report]'.") from error
    loader = jinja2.FunctionLoader(template_text)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, **settings)
    head = "data:image/svg+xml;base64,"
    environment.filters["data_uri"] = lambda svg: head + base64.b64encode(svg.encode()).decode()
    return environment
