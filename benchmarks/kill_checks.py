"""What must be true of a folder of results after somebody was killed."""

import csv
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from featsieve.bench.store import Store
from featsieve.io.models import load_model
from featsieve.report import render_selection

# Columns of a benchmark that differ from run to run without being wrong.
VARYING = [
    "fit_seconds",
    "evaluate_seconds",
    "peak_mib",
    "iteration_seconds",
    "started",
    "jobs",
    "versions",
]


def corrupt_files(folder: Path) -> list[str]:
    """Return the visible files below a folder that cannot be read to their end."""
    bad = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            try:
                _read(path)
            except Exception as error:  # whatever a reader says: the file is not whole
                bad.append(f"{path.name}: {error}")
    return bad


def _read(path: Path) -> None:
    """Read a file as its ending says; raise if it is not whole."""
    if path.suffix in (".csv", ".tsv"):
        text = path.read_text(encoding="utf-8")
        rows = list(csv.reader(text.splitlines(), delimiter="," if path.suffix == ".csv" else "\t"))
        if not text.endswith("\n") or len({len(row) for row in rows}) != 1:
            raise ValueError("not all rows are whole")
    elif path.suffix == ".json":
        json.loads(path.read_text(encoding="utf-8"))
    elif path.suffix == ".skops":
        with ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise ValueError("a part is damaged")
    elif path.suffix == ".html":
        if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            raise ValueError("the page has no end")
    elif path.suffix == ".parquet":
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as part:
            part.read(use_threads=False)


def hidden_files(folder: Path) -> list[str]:
    """Return what is hidden below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))


def selection_content(folder: Path) -> dict[str, Any] | None:
    """Return what the files of a selection say, times aside; None if there is no folder.

    The page is compared with the one that its summary makes, times included: two that do not belong
    together give another content than either.
    """
    if not folder.is_dir():
        return None
    content: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.name == "summary.json":
            summary = json.loads(path.read_text(encoding="utf-8"))
            page = folder / "report.html"
            same = page.exists() and page.read_text(encoding="utf-8") == render_selection(summary)
            content["report.html belongs to summary.json"] = same
            content[path.name] = _without_times(summary)
        elif path.name == "model.skops":
            model = load_model(path)
            scores = getattr(model.selector, "scores_", None)
            content[path.name] = (list(model.selected), None if scores is None else scores.tolist())
        elif path.name != "report.html":
            content[path.name] = path.read_bytes()
    return content


def _without_times(value: Any) -> Any:
    """Return JSON values without durations."""
    if isinstance(value, dict):
        return {key: _without_times(entry) for key, entry in value.items() if key != "seconds"}
    return [_without_times(entry) for entry in value] if isinstance(value, list) else value


def benchmark_rows(folder: Path) -> Any:
    """Return the rows of a benchmark, times aside."""
    return Store(folder).read().drop(columns=VARYING)


def parts_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return time and content of every finished cell's file."""
    found = sorted((folder / "cells").glob("[!.]*"))
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}
