"""The report of a benchmark: what it says in short, where it comes from, and the page on disk."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.io.files import whole_file, write_text
from featsieve.report.bench import sections, tables
from featsieve.report.bench.figures import method_styles
from featsieve.report.bench.scores import RANDOM
from featsieve.report.bench.sections import TRACK_TITLES, and_list
from featsieve.report.bench.summary import BenchSummary, Track, summarise_bench
from featsieve.report.page import (
    Code,
    Entry,
    Page,
    PageTable,
    Points,
    Row,
    Section,
    render_html,
    render_markdown,
)

if TYPE_CHECKING:
    import pandas as pd


def write_bench_report(
    rows: "pd.DataFrame",
    output: str | os.PathLike[str],
    *,
    markdown: str | os.PathLike[str] | None = None,
    title: str = "",
    planned: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write the report of a benchmark as one self-contained HTML page.

    Parameters
    ----------
    rows : DataFrame
        Columns of ``featsieve.bench.cells.SCHEMA``, as ``Store.read`` gives them.
    output : str or path
        The HTML file; replaced as a whole.
    markdown : str or path, default=None
        Where to write the same as Markdown, without figures.
    title : str, default=""
        By default made of the plan's name.
    planned : mapping of str to mapping, default=None
        What each planned cell is ("dataset", "method", "experiment"), by its identity, so that the
        page of an unfinished run says so: methods whose grids are not complete are left out of the
        oracle track.

    Raises
    ------
    ValueError
        If there are no rows.
    ImportError
        If jinja2 or matplotlib is missing.
    """
    page = bench_page(summarise_bench(rows, planned=planned), title=title)
    text = render_html(page)
    if markdown is None:
        write_text(output, text)
        return
    with whole_file(markdown) as unfinished:  # none of the two if one cannot be written
        unfinished.write_text(render_markdown(page), encoding="utf-8")
        write_text(output, text)


def bench_page(summary: BenchSummary, *, title: str = "") -> Page:
    """Compose the report of a benchmark."""
    styles = method_styles(summary.methods)
    found = [
        _overview(summary),
        *(sections.track_section(summary, styles, track=track) for track in summary.tracks),
        sections.survival_section(summary),
        sections.curve_section(summary, styles),
        sections.time_section(summary),
        sections.planted_section(summary),
        _failures(summary),
        _origin(summary),
    ]
    controls = sum(fact.control for fact in summary.methods)
    progress = summary.progress
    of_planned = "" if progress.planned is None else f" of {progress.planned}"
    facts = [
        f"{len(summary.datasets)} data sets",
        f"{len(summary.methods) - controls} methods and {controls} controls",
        f"{progress.done}{of_planned} cells done",
    ]
    if not progress.complete:
        facts.append("unfinished: do not quote")
    title = title or f"Benchmark report: {', '.join(summary.words('plan')) or 'bench'}"
    return Page(title, tuple(facts), tuple(section for section in found if section is not None))


def _overview(summary: BenchSummary) -> Section:
    """Say what was found, in a few sentences."""
    progress = summary.progress
    points = []
    if not progress.complete:
        words = progress.unfinished_words()
        tail = f" Left out of the oracle track and its ranks: {words}." if words else ""
        points.append(
            f"This run is unfinished: {progress.ended} of {progress.planned} cells have ended. Do "
            f"not quote these numbers.{tail}"
        )
    points += [_track_sentence(summary, track) for track in summary.tracks if track.ranks]
    points += [*_label_gap(summary), *_chance(summary)]
    if progress.ended > progress.done:
        count = progress.ended - progress.done
        points.append(f"{count} cells have no result; the reasons are listed below.")
    most = max((s.n_runs for t in summary.tracks for s in t.scores["acc"].values()), default=0)
    runs = f"{most} runs" if most else "several runs"
    paragraph = (
        "Scores are percent: mean ± standard deviation of k-means from random starts on the "
        f"selected features ({runs}, the same seeds for every method; of a method that was fitted "
        "with several seeds, of all fits together). The three tracks below answer different "
        "questions and are never mixed."
    )
    blocks = (Points(tuple(points)), tables.dataset_table(summary))
    return Section("overview", "What was found", (paragraph,), blocks)


def _chance(summary: BenchSummary) -> list[str]:
    """Count the results that random selections reach as well."""
    entries = summary.survival
    if not entries:
        return []
    total = sum(len(entry.judged) for entry in entries)
    tail = (
        ", which are as many as the largest search had, or more."
        if all(entry.enough for entry in entries)
        else "; these are fewer than the largest search had."
    )
    return [
        f"Chance with the same search: {sum(len(entry.not_above) for entry in entries)} of {total} "
        "oracle results (method and data set) do not exceed in ACC what the best of as many random "
        "selections is expected to reach.",
        f"{sum(len(entry.not_above_all) for entry in entries)} of {total} do not exceed the best "
        f"of all random selections{tail}",
    ]


def _track_sentence(summary: BenchSummary, track: Track) -> str:
    """Say who leads a track, and where the random control stands."""
    ranks = track.ranks["acc"]
    names = [ranks.names[i] for i in ranks.order]
    values = dict(zip(ranks.names, ranks.average_ranks, strict=True))
    best = float(ranks.average_ranks.min())
    leaders = [name for name in names if np.isclose(values[name], best)]
    same = {n for group in ranks.groups if set(leaders) & set(group) for n in group}
    apart = [name for name in names if name not in same and name not in leaders]
    it, verb = ("it", "has") if len(leaders) == 1 else ("them", "share")
    tail = (
        f"Nemenyi's test tells {it} apart from {and_list(apart) if apart else 'no other'}"
        if ranks.significant
        else "no difference between methods is beyond chance"
    )
    control = next((fact.name for fact in summary.methods if fact.selector == RANDOM), "")
    chance = f" The random control has rank {values[control]:.2f}." if control in values else ""
    return (
        f"{TRACK_TITLES[track.name].split(':')[0]}: {and_list(leaders)} {verb} the best average "
        f"rank by ACC ({best:.2f} of {len(names)}, {ranks.n_datasets} data sets); {tail}.{chance}"
    )


def _label_gap(summary: BenchSummary) -> list[str]:
    """Say what the labels add to a search."""
    free, oracle = summary.track("label-free"), summary.track("oracle")
    if free is None or oracle is None:
        return []
    real = {fact.name for fact in summary.methods if not fact.control}
    gaps = [
        oracle.scores["acc"][key].mean - score.mean
        for key, score in free.scores["acc"].items()
        if key in oracle.scores["acc"] and key[1] in real
    ]
    if not gaps:
        return []
    return [
        f"Choosing with labels instead of without adds {100 * float(np.mean(gaps)):.1f} points of "
        "ACC on average over methods and data sets: that part of the oracle's scores is not there "
        "for a user."
    ]


def _failures(summary: BenchSummary) -> Section | None:
    """Say what went wrong."""
    table = tables.failure_table(summary)
    if not table.rows:
        return None
    paragraph = (
        "A cell is one fit of one method with one setting. What failed, ran out of time or was "
        "skipped is not in the tables above; in the ranks a failure counts as last."
    )
    return Section("failures", "Failures", (paragraph,), (table,))


def _origin(summary: BenchSummary) -> Section:
    """Where and with what, and how to do it again."""
    versions = summary.versions()
    started = [text[:16].replace("T", " ") for text in summary.words("started")]
    found = [("machine", machine) for machine in summary.words("machine")]
    found += [("run between", f"{started[0]} and {started[-1]}")] if started else []
    found += [(name, ", ".join(own)) for name, own in versions.items()]
    rows = tuple(Row(name, (Entry(text),)) for name, text in found)
    commands = "\n".join(
        f"featsieve bench run {plan} --out results && featsieve bench report results"
        for plan in summary.words("plan") or ["PLAN"]
    )
    sources = versions.get("source", ())
    paragraphs = [
        "The same rows give the same page. To run it again (--data names the folder of data sets; "
        "a run that was stopped goes on where it was):"
    ]
    if len(sources) > 1:
        paragraphs.insert(
            0,
            f"These rows were computed by {len(sources)} different states of the library's code "
            f"(source {and_list(sources)}): to have all from one, run the plan into an empty "
            "folder.",
        )
    table = PageTable("Machine and versions", ("What", "which"), rows, words=True)
    return Section("origin", "Where this comes from", tuple(paragraphs), (table, Code(commands)))
