"""The parts of a report, whatever it is about: sections of text, tables and figures."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Entry:
    """A cell of a table."""

    text: str
    note: str = ""
    best: bool = False
    missing: bool = False


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
class Figure:
    """A drawing: ``title`` says what is drawn, ``caption`` what there is to see."""

    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Gallery:
    """Figures of one kind under one title; ``key`` pairs names with their line and marker."""

    kind: ClassVar[str] = "gallery"
    title: str
    caption: str
    figures: tuple[Figure, ...]
    key: tuple[tuple[str, str], ...] = ()
    wide: bool = False


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    kind: ClassVar[str] = "points"
    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """A command or other text that is shown as it is."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Links:
    """Other pages beside this one: (text, relative address)."""

    kind: ClassVar[str] = "links"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away."""

    kind: ClassVar[str] = "details"
    summary: str
    blocks: tuple[PageTable | Gallery | Points | Code | Links, ...]


Block = PageTable | Gallery | Points | Code | Links | Details


@dataclass(frozen=True)
class Section:
    """A chapter: an anchor, a heading, paragraphs, then blocks."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole report; ``facts`` are the short lines under its title."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
