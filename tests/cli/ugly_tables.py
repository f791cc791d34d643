"""Twenty tables as people have them, each with what a reader must make of it.

``python -m tests.cli.ugly_tables FOLDER`` writes them, to try them by hand.
"""

import gzip
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from featsieve.datasets import make_planted

MARKERS = 5


@dataclass
class Ugly:
    """A file, and the truth: features of the table, and cells that are no plain numbers."""

    path: Path
    features: list[str]  # that the table has, once it was read
    markers: list[str]  # those that carry the clusters
    changes: list[tuple[int, str, str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # words that `inspect` must say
    truth: pd.DataFrame | None = None  # where values are not those of the plain table


def plain(first: int, last: int) -> pd.DataFrame:
    """Return some rows of the table without anything ugly: 5 of 16 columns show 3 clusters."""
    planted = make_planted(110, 16, n_informative=MARKERS, n_clusters=3, signal=4.0, random_state=0)
    names = [f"{'marker' if m else 'noise'}{j}" for j, m in enumerate(planted.informative)]
    values = (planted.X + np.linspace(20.0, 90.0, 16)).round(2)
    return pd.DataFrame(values, columns=names).iloc[first:last].reset_index(drop=True)


def marker_names(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if name.startswith("marker")]


def as_cells(frame: pd.DataFrame, decimal: str = ".") -> pd.DataFrame:
    """Return a table of text, as it stands in a file."""
    return frame.map(lambda value: "" if pd.isna(value) else f"{value:g}".replace(".", decimal))


def join(cells: pd.DataFrame, separator: str = ",") -> str:
    """Return lines; cells with separators stand in quotes."""
    return cells.to_csv(index=False, sep=separator, lineterminator="\n")


def written(path: Path, frame: pd.DataFrame, content: str | bytes, **about) -> Ugly:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    known = {"features": list(frame.columns), "markers": marker_names(frame)}
    return Ugly(path, **{**known, **about})


def odd(frame: pd.DataFrame, column: str, write: Callable[[float], str], rows=None):
    """Return the cells of a column rewritten, in some rows or all, and the changes back."""
    rows = range(len(frame)) if rows is None else rows
    was = {row: write(frame.loc[row, column]) for row in rows}
    changes = [(row + 1, column, text, float(frame.loc[row, column])) for row, text in was.items()]
    cells = as_cells(frame)
    cells.loc[list(was), column] = list(was.values())
    return cells, changes


# The tables ---------------------------------------------------------------------------------------


def semicolons(folder, frame):
    return written(folder / "semicolons.csv", frame, join(as_cells(frame, ","), ";"))


def byte_order_mark(folder, frame):
    text = join(as_cells(frame)).replace("\n", "\r\n")
    return written(folder / "mark.csv", frame, text.encode("utf-8-sig"))


def utf_16(folder, frame):
    return written(folder / "unicode.tsv", frame, join(as_cells(frame), "\t").encode("utf-16"))


def transposed(folder, frame):
    cells = as_cells(frame).T
    cells.columns = [f"sample_{i}" for i in range(len(frame))]
    cells.insert(0, "gene", frame.columns)
    about = {"notes": ["The table was transposed"]}
    return written(folder / "genes.csv", frame, join(cells), **about)


def below_a_limit(folder, frame):
    name = marker_names(frame)[0]
    frame = frame.assign(**{name: frame[name].clip(lower=frame[name].quantile(0.1).round(1))})
    rows = frame.index[frame[name] == frame[name].min()]
    cells, changes = odd(frame, name, lambda value: f"<{value:g}", rows)
    about = {"notes": [f"'{name}' has numbers except in {len(rows)} cell"], "truth": frame}
    return written(folder / "limits.csv", frame, join(cells), changes=changes, **about)


def percent(folder, frame):
    name = marker_names(frame)[1]
    cells, changes = odd(frame, name, lambda value: f"{value:g}%")
    about = {"notes": [f"'{name}' has numbers written as text"]}
    return written(folder / "percent.csv", frame, join(cells), changes=changes, **about)


def currency(folder, frame):
    name = marker_names(frame)[2]
    frame = frame.assign(**{name: 100 * frame[name]})
    cells, changes = odd(frame, name, lambda value: f"${value:,.2f}")
    return written(folder / "dollars.csv", frame, join(cells), changes=changes, truth=frame)


def euros(folder, frame):
    name = marker_names(frame)[2]
    frame = frame.assign(**{name: 100 * frame[name]})

    def write(value):
        return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))

    cells, changes = odd(frame, name, write)
    for other in frame.columns.drop(name):
        cells[other] = cells[other].str.replace(".", ",")
    text = join(cells, ";")
    return written(folder / "euros.csv", frame, text, changes=changes, truth=frame)


def thousands(folder, frame):
    name = marker_names(frame)[3]
    frame = frame.assign(**{name: (100 * frame[name]).round()})
    cells, changes = odd(frame, name, lambda value: f"{value:,.0f}".replace(",", "\u00a0"))
    text = join(cells, "\t")
    return written(folder / "thousands.tsv", frame, text, changes=changes, truth=frame)


def stray_words(folder, frame):
    first, second = marker_names(frame)[:2]
    cells = as_cells(frame)
    cells.loc[3, first], cells.loc[5, first] = "n/a", "unknown"
    cells.loc[7, second] = "broken tube"
    gap = float("nan")
    changes = [(6, first, "unknown", gap), (8, second, "broken tube", gap)]
    frame = frame.copy()
    frame.loc[[3, 5], first], frame.loc[7, second] = gap, gap
    return written(folder / "words.csv", frame, join(cells), changes=changes, truth=frame)


def booleans(folder, frame):
    name, noise = marker_names(frame)[0], next(n for n in frame if n.startswith("noise"))
    high = frame[name] > frame[name].median()
    frame = frame.assign(smoker=high.astype(float))
    frame[noise] = (np.arange(len(frame)) % 2).astype(float)
    frame.loc[4, noise] = np.nan
    cells = as_cells(frame)
    for column in ("smoker", noise):
        cells[column] = cells[column].map({"1": "TRUE", "0": "FALSE", "": ""})
    return written(folder / "truths.csv", frame, join(cells), truth=frame)


def dates(folder, frame):
    cells = as_cells(frame)
    visits = [f"{10 + i % 7}/0{1 + i % 9}/2024" for i in range(len(frame))]
    cells.insert(1, "visit", visits)
    every = frame.assign(visit=[f"2024-{v[3:5]}-{v[:2]}" for v in visits])
    notes = ["Encoded as days since 1970-01-01 (--encode): 'visit'"]
    return written(folder / "visits.csv", every, join(cells), notes=notes)


def empty_columns(folder, frame):
    full = frame.assign(remarks=np.nan)
    cells = as_cells(full)
    text = "\n".join(f"{line}," for line in join(cells).splitlines())  # as spreadsheets end lines
    about = {"markers": marker_names(frame), "truth": frame}
    notes = ["Without any value, and left out: column 'remarks'"]
    return written(folder / "empty.csv", full, text, notes=notes, **about)


def constant_columns(folder, frame):
    frame = frame.assign(unit=1.0, site=7.0)
    notes = ["Constant, and nothing to select: 2 columns ('unit', 'site')"]
    return written(folder / "constant.csv", frame, join(as_cells(frame)), notes=notes, truth=frame)


def same_names(folder, frame):
    first, second = marker_names(frame)[:2]
    cells = as_cells(frame).rename(columns={first: "marker", second: "marker"})
    frame = frame.rename(columns={first: "marker.1", second: "marker.2"})
    notes = ["Several columns have the same name, 'marker'"]
    return written(folder / "twins.csv", frame, join(cells), notes=notes, truth=frame)


def identifiers(folder, frame):
    cells = as_cells(frame)
    cells.insert(0, "patient", [f"P-{97 * i % 1009:04}" for i in range(len(frame))])
    cells.insert(1, "No.", range(1, len(frame) + 1))
    return written(folder / "patients.csv", frame, join(cells), notes=["--id-column patient"])


def many_gaps(folder, frame):
    gaps = np.random.default_rng(len(frame)).random(frame.shape) < 0.3
    holes = frame.mask(gaps)
    return written(folder / "gaps.csv", holes, join(as_cells(holes)), truth=holes)


def workbook(folder, frame):
    name = marker_names(frame)[4]
    cells, changes = odd(frame, name, lambda value: f">{value:g}", [2, 9])
    rows = [["Study of 2024, all sites"], [], list(cells), *cells.to_numpy().tolist()]
    path = folder / "study.xlsx"
    write_workbook(path, {"Read me": [["made by hand"]], "Values": rows})
    notes = ["'Values' was read, of 2", "Left out above the header: 'Study of 2024"]
    return written(path, frame, path.read_bytes(), changes=changes, notes=notes)


def categories(folder, frame):
    cells = as_cells(frame)
    cells["town"] = np.array(["Ulm", "Jena", "Kiel"])[np.arange(len(frame)) % 3]
    every = frame.assign(town=cells["town"])
    return written(folder / "towns.csv", every, join(cells), notes=["'town' (3 words)", "--encode"])


def titles(folder, frame):
    text = "Results of the second visit\nDr. Example; 2024\n\n" + join(as_cells(frame))
    notes = ["Left out above the header: 'Results of the second visit"]
    packed = gzip.compress(text.encode())
    return written(folder / "titles.csv.gz", frame, packed, notes=notes)


TABLES = (
    *(semicolons, byte_order_mark, utf_16, transposed, below_a_limit, percent, currency, euros),
    *(thousands, stray_words, booleans, dates, empty_columns, constant_columns, same_names),
    *(identifiers, many_gaps, workbook, categories, titles),
)


def write_workbook(path: Path, sheets: dict[str, list[list[str]]]) -> None:
    """Write a workbook as spreadsheet programs do, in as few parts as they accept."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    numbered = list(enumerate(sheets, start=1))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{i}" r:id="s{i}"/>' for i, name in numbered
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + "".join(
            f'<Relationship Id="s{i}" Type="{relations}/worksheet" Target="worksheets/s{i}.xml"/>'
            for i, _ in numbered
        )
        + "</Relationships>",
    }
    for i, name in numbered:
        rows = "".join(
            f'<row r="{r}">{"".join(_cell(r, c, cell) for c, cell in enumerate(row))}</row>'
            for r, row in enumerate(sheets[name], start=1)
        )
        sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
        parts[f"xl/worksheets/s{i}.xml"] = sheet
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def _cell(row: int, column: int, text: str) -> str:
    """Return a cell: a number where the text is one."""
    place = f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[column]}{row}"
    try:
        return f'<c r="{place}"><v>{float(text)!r}</v></c>'
    except ValueError:
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'


if __name__ == "__main__":
    for make in TABLES:
        print(make(Path(sys.argv[1]), plain(0, 90)).path)
