"""The report of a benchmark: its sections in their order, and the page on disk."""

import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.bench import plan_names
from featsieve.datasets import dataset_names
from featsieve.io.files import write_text
from featsieve.names import listed
from featsieve.report.bench import tables
from featsieve.report.bench.scores import METRICS, RANDOM, by_method, track_rows
from featsieve.report.bench.summary import BenchSummary, Track, summarise_bench
from featsieve.report.page import (
    Block,
    Entry,
    Notes,
    Page,
    PageTable,
    Row,
    Section,
    render_markdown,
)

if TYPE_CHECKING:
    import pandas as pd

# Column -> how it is shown in the tracks without labels.
EXTRA_TABLES: dict[str, dict[str, Any]] = {
    "acc_practical": {
        "caption": "ACC (%) of the best of 20 k-means++ starts (practical protocol)",
    },
    "acc_own": {"caption": "ACC (%) of the selector's own labels"},
    "redundancy": {
        "caption": "Redundancy: mean absolute correlation of pairs of selected columns. Lowest in "
        "bold.",
        "scale": 1.0,
        "digits": 3,
        "lowest": True,
        "note": "It depends on the number of features: see the table of these.",
    },
}


def write_bench_report(
    rows: "pd.DataFrame",
    output: str | os.PathLike[str],
    *,
    title: str = "",
    planned: Collection[str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> None:
    """Write the report of a benchmark as a page of Markdown.

    Parameters
    ----------
    rows : DataFrame
        Columns of ``featsieve.bench.cells.SCHEMA``, as ``Store.read`` gives them.
    output : str or path
        The file; replaced as a whole.
    title : str, default=""
        By default made of the plan's name.
    planned : collection of str, default=None
        Identities of all planned cells, so that the page of an unfinished run says so.
    left_out : mapping of str to str, default=None
        Data sets of the plan that could not be used, and why.

    Raises
    ------
    ValueError
        If there are no rows.
    ImportError
        If jinja2 is missing.
    """
    page = bench_page(summarise_bench(rows, planned=planned, left_out=left_out), title=title)
    write_text(output, render_markdown(page))


def bench_page(summary: BenchSummary, *, title: str = "") -> Page:
    """Compose the report of a benchmark."""
    failed = summary.ended > summary.done
    found = [
        _overview(summary),
        *(_track(summary, track) for track in summary.tracks.values()),
        _survival(summary),
        _time(summary),
        _planted(summary),
        _section("failures", tables.failure_table(summary)) if failed else None,
        _origin(summary),
    ]
    controls = sum(fact.control for fact in summary.methods)
    of_planned = "" if summary.planned is None else f" of {summary.planned}"
    facts = [
        f"{len(summary.datasets)} data sets",
        f"{len(summary.methods) - controls} methods and {controls} controls",
        f"{summary.done}{of_planned} cells done",
    ]
    if not summary.complete:
        facts.append("unfinished: do not quote")
    title = title or f"Benchmark report: {', '.join(summary.words('plan')) or 'bench'}"
    return Page(title, tuple(facts), tuple(section for section in found if section is not None))


def _overview(summary: BenchSummary) -> Section:
    """Say what was found, in a few sentences."""
    points = []
    if not summary.complete:
        points.append(
            f"This run is unfinished: {summary.ended} of {summary.planned} cells have ended. Do "
            "not quote these numbers."
        )
    points += [_leaders(summary, track) for track in summary.tracks.values() if track.ranks]
    points += [*_label_gap(summary), *_chance(summary)]
    if summary.ended > summary.done:
        count = summary.ended - summary.done
        points.append(f"{count} cells have no result; the reasons are listed below.")
    points += [f"Left out: {name} ({why})." for name, why in summary.left_out.items()]
    points += _looked_at(summary)
    scores = [s for track in summary.tracks.values() for s in track.scores["acc"].values()]
    most = max((score.n_runs for score in scores), default=0)
    blocks = [*_gap(summary), tables.dataset_table(summary), tables.settings_table(summary)]
    return replace(_section("overview", *blocks, runs=most), points=tuple(points))


def _looked_at(summary: BenchSummary) -> list[str]:
    """Say which data sets were looked at while the library was developed: all that it names."""
    known = [fact.name for fact in summary.datasets if fact.name in dataset_names()]
    if not known:
        return []
    return [
        f"Development sets: {', '.join(known)} were looked at while the library was developed; "
        "scores on them say little about unseen tables."
    ]


def _gap(summary: BenchSummary) -> list[Block]:
    """Say how much of what labels could add is reached without, in the first track."""
    for track in summary.tracks.values() if summary.references else ():
        found = summary.compare(track, "acc", summary.references[0])
        closed = {name: 100 * own.closed[0] for name, own in found.items()}
        names = sorted((n for n in closed if np.isfinite(closed[n])), key=lambda n: -closed[n])
        if names:
            ordered = ", ".join(f"{name} {closed[name]:.0f}" for name in names)
            text = f"Gain in ACC, in % of that with true labels. Best first: {ordered}."
            title = f"What was possible, {track.name} track"
            return [Notes(title, (f"Share of the gap that is closed: {text}",))]
    return []


def _ranks(track: Track, metric: str) -> str:
    """Say the average ranks in a track, and whether the methods differ (not of their searches)."""
    ranks = track.ranks[metric]
    ordered = ", ".join(f"{ranks.names[i]} {ranks.average_ranks[i]:.2f}" for i in ranks.order)
    found = f"Average ranks by {METRICS[metric]}, {track.name} track: Best first: {ordered}."
    if track.name == "oracle":
        return found
    apart = "differ" if ranks.significant else "do not differ beyond chance"
    return (
        f"{found} Critical difference {ranks.critical_difference:.2f}; the methods {apart} "
        f"(Friedman χ² = {ranks.friedman:.1f}, p = {ranks.friedman_p:.2g}; Iman-Davenport "
        f"p = {ranks.iman_davenport_p:.2g})."
    )


def _leaders(summary: BenchSummary, track: Track) -> str:
    """Say who leads a track, and where the random control stands."""
    ranks = track.ranks["acc"]
    values = {ranks.names[i]: float(ranks.average_ranks[i]) for i in ranks.order}
    best = min(values.values())
    leaders = [name for name, value in values.items() if np.isclose(value, best)]
    same = {n for group in ranks.groups if set(leaders) & set(group) for n in group}
    apart = [name for name in values if name not in same and name not in leaders]
    it, verb = ("it", "has") if len(leaders) == 1 else ("them", "share")
    if track.name == "oracle":
        tail = "methods differ in their tries, and more tries rank better: see what survives chance"
    elif ranks.significant:
        others = listed(apart, len(apart)) if apart else "no other"
        tail = f"Nemenyi's test tells {it} apart from {others}"
    else:
        tail = "no difference between methods is beyond chance"
    control = values.get(summary.method_of(RANDOM) or "")
    chance = f" The random control has rank {control:.2f}." if control else ""
    return (
        f"{track.name.capitalize()} track: {listed(leaders, len(leaders))} {verb} the best average "
        f"rank by ACC ({best:.2f} of {len(values)}, {ranks.n_datasets} data sets); {tail}.{chance}"
    )


def _label_gap(summary: BenchSummary) -> list[str]:
    """Say what the labels add to a search."""
    real = {fact.name for fact in summary.methods if not fact.control}
    oracle, free = (
        summary.tracks[name].scores["acc"] if name in summary.tracks else {}
        for name in ("oracle", "label-free")
    )
    gaps = [oracle[key].mean - free[key].mean for key in free if key in oracle and key[1] in real]
    if not gaps:
        return []
    return [
        f"Choosing with labels instead of without adds {100 * float(np.mean(gaps)):.1f} points of "
        "ACC on average over methods and data sets: that part of the oracle's scores is not there "
        "for a user."
    ]


def _chance(summary: BenchSummary) -> list[str]:
    """Count the results that random selections reach as well."""
    if not len(summary.survival):
        return []
    controls = [fact.name for fact in summary.methods if fact.control]
    judged = summary.survival[~summary.survival["method"].isin(controls)]
    return [
        f"Chance with the same search: {(judged['margin'] <= 0).sum()} of {len(judged)} "
        "oracle results (method and data set) do not exceed in ACC what the best of as many random "
        "selections is expected to reach."
    ]


def _track(summary: BenchSummary, track: Track) -> Section:
    """Show one track: tables, ranks, and what else belongs to it."""
    oracle = track.name == "oracle"
    paper = oracle and any(
        fact.published and data.published for fact in summary.methods for data in summary.datasets
    )
    beside = ": ours, and with it the published number" if paper else ""
    blocks: list[Block] = []
    for metric, word in METRICS.items():
        caption = f"{word} (%), {track.name} track{beside}. Best in bold."
        blocks.append(tables.score_table(summary, track, metric, caption=caption))
    caption = f"Number of features behind the ACC above{beside}"
    blocks.append(tables.count_table(summary, track, caption=caption))
    if track.ranks:
        blocks.append(Notes("Average ranks", tuple(_ranks(track, m) for m in track.ranks)))
    more = list(texts()["oracle"]["paper"]) if paper else []
    if track.ranks and summary.references:
        paired = [tables.difference_table(summary, track, metric) for metric in METRICS]
        blocks += paired
        more = [*more, texts()["differences"]["text"]]
        if any("gap" in name for table in paired for name in table.head):
            more.append(texts()["differences"]["gap"])
        if len(summary.datasets) < 6:  # 2 / 2**5 > 0.05: all on one side, by chance
            more.append(texts()["differences"]["few"].format(number=len(summary.datasets)))
    for column, how in EXTRA_TABLES.items():
        values = {} if oracle else track.means(column)
        if values:
            blocks.append(tables.value_table(summary, values, **how))
    if track.unranked:
        names = listed(track.unranked, len(track.unranked))
        more = [*more, f"Not ranked, because not run (to the end) on all data sets: {names}."]
    return _section(track.name, *blocks, more=more)


def _survival(summary: BenchSummary) -> Section | None:
    """Show what survives a control with the same budget."""
    if not len(summary.survival):
        return None
    number = tables.span(summary.survival["random"])
    return _section("survival", tables.margin_table(summary), number=number)


def _time(summary: BenchSummary) -> Section | None:
    """Show running times: of several seeds the median."""
    timed = track_rows(summary.rows, "time")
    if not len(timed):
        return None
    seconds = by_method(timed)["fit_seconds"].median().dropna().to_dict()
    caption = "Seconds of one whole fit. Fastest in bold."
    table = tables.value_table(summary, seconds, caption=caption, scale=1.0, digits=3, lowest=True)
    return _section("time", table)


def _planted(summary: BenchSummary) -> Section | None:
    """Show whether planted features were found."""
    blocks = []
    for track in summary.tracks.values():
        precision, recall = track.means("planted_precision"), track.means("planted_recall")
        if precision:
            caption = f"Precision (%), below it recall (%), {track.name} track. Highest precision "
            how: dict[str, Any] = {"caption": f"{caption}in bold.", "note_label": "recall"}
            blocks.append(tables.value_table(summary, precision, digits=1, notes=recall, **how))
    return _section("planted", *blocks) if blocks else None


def _origin(summary: BenchSummary) -> Section:
    """Where and with what, and how to do it again."""
    versions = summary.versions()
    started = [text[:16].replace("T", " ") for text in summary.words("started")]
    found = [("machine", machine) for machine in summary.words("machine")]
    found += [("run between", f"{started[0]} and {started[-1]}")] if started else []
    found += [(name, ", ".join(own)) for name, own in versions.items()]
    rows = tuple(Row(name, (Entry(text),)) for name, text in found)
    run = "PYTHONPATH=. " * any(":" in fact.selector for fact in summary.methods)
    run += "featsieve bench run"
    commands = "\n".join(
        f"{run} {plan if plan in plan_names() else f'{plan}.toml'} --out results "
        "&& featsieve bench report results"
        for plan in summary.words("plan") or ["PLAN"]
    )
    sources = versions.get("source", [])
    table = PageTable("Machine and versions", ("What", "which"), rows, words=True)
    page = replace(_section("origin", table), code=commands)
    if len(sources) <= 1:
        return page
    states = (
        f"These rows were computed by {len(sources)} different states of the library's code "
        f"(source {listed(sources, len(sources))}): to have all from one, run the plan into an "
        "empty folder."
    )
    return replace(page, paragraphs=(states, *page.paragraphs))


@cache
def texts() -> dict[str, Any]:
    """Read what the sections say."""
    file = resources.files("featsieve.report.bench").joinpath("texts.toml")
    return tomllib.loads(file.read_text("utf-8"))


def _section(name: str, *blocks: Block, more: Sequence[str] = (), **values: Any) -> Section:
    """Return a section with its text, and what is said below it."""
    words = texts()[name]
    paragraphs = [words["text"].format(**values), *more]
    return Section(name, words["title"], tuple(text.strip() for text in paragraphs), blocks)
