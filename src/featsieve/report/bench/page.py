"""The story of a benchmark report: which sections there are, and what they say."""

# ruff: noqa: RUF001 - mathematical signs are meant

import numpy as np

from featsieve.report.bench import control_tables
from featsieve.report.bench.figure_sections import (
    curve_section,
    objective_section,
    scatter_section,
    sensitivity_section,
    time_section,
)
from featsieve.report.bench.scores import RANDOM
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.bench.track_sections import (
    TRACK_TITLES,
    and_list,
    planted_section,
    survival_section,
    track_section,
)
from featsieve.report.figure_style import method_styles
from featsieve.report.page import Block, Code, Entry, Page, Points, Row, Section, Table


def bench_page(summary: BenchSummary, *, title: str = "") -> Page:
    """Compose the report of a benchmark."""
    styles = method_styles(summary.methods)
    plans = ", ".join(summary.plans) or "bench"
    tracks = [track_section(summary, styles, track=track) for track in summary.tracks]
    makers = (
        survival_section,
        curve_section,
        time_section,
        objective_section,
        sensitivity_section,
        scatter_section,
        planted_section,
    )
    others = [make(summary, styles) for make in makers]
    sections = [_overview(summary), *tracks, *others, _failures(summary), _origin(summary)]
    controls = sum(fact.control for fact in summary.methods)
    facts = (
        f"{len(summary.datasets)} data sets",
        f"{len(summary.methods) - controls} methods and {controls} controls",
        *_progress_facts(summary),
    )
    return Page(title or f"Benchmark report: {plans}", facts, tuple(s for s in sections if s))


def _overview(summary: BenchSummary) -> Section:
    """Say what was found, in a few sentences."""
    points = _unfinished(summary)
    points += [_track_sentence(summary, track) for track in summary.tracks]
    gap = _label_gap(summary)
    if gap:
        points.append(gap)
    if summary.survival:
        below = sum(len(entry.not_above) for entry in summary.survival)
        total = below + sum(len(entry.above) for entry in summary.survival)
        points.append(
            f"Chance with the same search: {below} of {total} oracle results (method and data set) "
            "do not exceed in ACC what the best of as many random selections is expected to reach."
        )
        all_below = sum(len(entry.not_above_all) for entry in summary.survival)
        points.append(
            f"{all_below} of {total} do not exceed the best of all random selections"
            + (
                ", which are as many as the largest search had, or more."
                if all(entry.enough for entry in summary.survival)
                else "; these are fewer than the largest search had."
            )
        )
    points += _shape_notes(summary)
    if summary.failures:
        count = summary.progress.ended - summary.progress.done
        points.append(f"{count} cells have no result; the reasons are listed below.")
    runs = f"{summary.kmeans_runs} runs" if summary.kmeans_runs else "several runs"
    return Section(
        "overview",
        "What was found",
        (
            "Scores are percent: mean ± standard deviation of k-means from random starts on the "
            f"selected features ({runs}, the same seeds for every method; of a method that was "
            "fitted with several seeds, of all fits together). The three tracks below answer "
            "different questions and are never mixed.",
        ),
        (Points(tuple(points)), control_tables.dataset_table(summary)),
    )


def _progress_facts(summary: BenchSummary) -> tuple[str, ...]:
    """Say in short how much of the plan is there."""
    progress = summary.progress
    if progress.planned is None:
        return (f"{progress.done} cells done",)
    count = f"{progress.done} of {progress.planned} cells done"
    return (count,) if progress.complete else (count, "unfinished: do not quote")


def _unfinished(summary: BenchSummary) -> list[str]:
    """Warn of a report that is not the last."""
    progress = summary.progress
    if progress.complete:
        return []
    words = progress.unfinished_words()
    tail = f" Left out of the oracle track and its ranks: {words}." if words else ""
    return [
        f"This run is unfinished: {progress.ended} of {progress.planned} cells have ended. Do not "
        f"quote these numbers.{tail}"
    ]


def _failures(summary: BenchSummary) -> Section | None:
    """Say what went wrong."""
    if not summary.failures:
        return None
    paragraph = (
        "A cell is one fit of one method with one setting. What failed, ran out of time or was "
        "skipped is not in the tables above; in the ranks a failure counts as last."
    )
    return Section("failures", "Failures", (paragraph,), (control_tables.failure_table(summary),))


def _origin(summary: BenchSummary) -> Section:
    """Where and with what, and how to do it again."""
    rows = tuple(Row(name, (Entry(", ".join(found)),)) for name, found in summary.versions.items())
    rows = (
        *(Row("machine", (Entry(machine),)) for machine in summary.machines),
        *(
            (
                Row(
                    "run between",
                    (Entry(" and ".join(text[:16].replace("T", " ") for text in summary.period)),),
                ),
            )
            if summary.period[0]
            else ()
        ),
        *rows,
    )
    blocks: list[Block] = []
    if rows:
        blocks.append(Table("Machine and versions", ("What", "which"), rows, words=True))
    plans = summary.plans or ("PLAN",)
    commands = "\n".join(
        f"featsieve bench run {plan} --out results && featsieve bench report results"
        for plan in plans
    )
    blocks.append(Code(commands))
    return Section(
        "origin",
        "Where this comes from",
        (
            *_sources(summary),
            "The same rows give the same page. To run it again (--data names the folder of data "
            "sets; a run that was stopped goes on where it was):",
        ),
        tuple(blocks),
    )


def _sources(summary: BenchSummary) -> list[str]:
    """Warn of rows that were computed by different code."""
    found = summary.versions.get("source", ())
    if len(found) < 2:
        return []
    return [
        f"These rows were computed by {len(found)} different states of the library's code (source "
        f"{and_list(found)}): to have all from one, run the plan into an empty folder."
    ]


def _track_sentence(summary: BenchSummary, track: Track) -> str:
    """Say who leads a track, and where the random control stands."""
    start = TRACK_TITLES[track.name].split(":")[0]
    ranks = track.ranks.get("acc")
    if ranks is None:
        means: dict[str, list[float]] = {}
        for (_, method), score in track.scores["acc"].items():
            means.setdefault(method, []).append(score.mean)
        averages = {method: float(np.mean(values)) for method, values in means.items()}
        top = max(averages.values())
        leaders = [method for method, value in averages.items() if np.isclose(value, top)]
        verb = "have" if len(leaders) > 1 else "has"
        return f"{start}: {and_list(leaders)} {verb} the highest mean ACC ({100 * top:.1f} %)."
    names = [ranks.names[i] for i in ranks.order]
    best = float(ranks.average_ranks.min())
    leaders = [ranks.names[i] for i in ranks.order if np.isclose(ranks.average_ranks[i], best)]
    same = {n for group in ranks.groups if set(leaders) & set(group) for n in group}
    apart = [name for name in names if name not in same and name not in leaders]
    it = "it" if len(leaders) == 1 else "them"
    tail = (
        f"Nemenyi's test tells {it} apart from {and_list(apart)}"
        if ranks.significant and apart
        else "no difference between methods is beyond chance"
        if not ranks.significant
        else f"Nemenyi's test tells {it} apart from no other"
    )
    control = next((fact.name for fact in summary.methods if fact.selector == RANDOM), "")
    chance = ""
    if control in names:
        rank = ranks.average_ranks[ranks.names.index(control)]
        chance = f" The random control has rank {rank:.2f}."
    verb = "has" if len(leaders) == 1 else "share"
    return (
        f"{start}: {and_list(leaders)} {verb} the best average rank by ACC "
        f"({best:.2f} of {len(names)}, {ranks.n_datasets} data sets); {tail}.{chance}"
    )


def _label_gap(summary: BenchSummary) -> str:
    """Say what the labels add to a search."""
    free, oracle = summary.track("label-free"), summary.track("oracle")
    if free is None or oracle is None:
        return ""
    real = {fact.name for fact in summary.methods if not fact.control}
    gaps = [
        oracle.scores["acc"][key].mean - score.mean
        for key, score in free.scores["acc"].items()
        if key in oracle.scores["acc"] and key[1] in real
    ]
    if not gaps:
        return ""
    return (
        f"Choosing with labels instead of without adds {100 * float(np.mean(gaps)):.1f} points of "
        "ACC on average over methods and data sets: that part of the oracle's scores is not there "
        "for a user."
    )


def _shape_notes(summary: BenchSummary) -> list[str]:
    """Say where our data are not the paper's."""
    notes = []
    for fact in summary.datasets:
        if fact.differs and fact.published is not None:
            ours = f"{fact.n_samples} × {fact.n_columns}"
            theirs = f"{fact.published[0]} × {fact.published[1]}"
            notes.append(
                f"{fact.name} has {fact.n_columns} features here ({ours}), where the paper used "
                f"{fact.published[1]} ({theirs}): its published numbers are not comparable."
                if fact.n_columns != fact.published[1]
                else f"{fact.name} is {ours} here, {theirs} in the paper: its published numbers "
                "are not comparable."
            )
    return notes
