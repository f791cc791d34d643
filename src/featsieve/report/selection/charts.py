"""The charts of a selection: the criterion, what each feature adds, scores, the objective."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from featsieve.report.selection.drawing import Frame, padded, svg
from featsieve.report.selection.values import counted, readable
from featsieve.report.selection.words import CRITERIA

# From this ratio of the largest to the smallest number on, their axis is logarithmic.
LOGARITHMIC = 12.0
# An objective after fewer iterations is told in words.
FEWEST_STEPS = 3


@dataclass(frozen=True)
class Chart:
    """A drawing with the points that can be read off it."""

    name: str
    title: str
    caption: str
    svg: str
    points: list[tuple[float, float, str]]


def charts(summary: Mapping[str, Any]) -> list[Chart]:
    """Return the charts that a selection has."""
    along = [_gains, _loss] if summary["path"]["kind"] == "gains" else [_scores]
    found = [draw(summary) for draw in (_criterion, *along, _objective)]
    return [chart for chart in found if chart is not None]


def _criterion(summary: Mapping[str, Any]) -> Chart | None:
    """Draw the label-free criterion against the number of features."""
    curve = summary["curve"]
    if curve is None or not all(isinstance(value, int | float) for value in curve["values"]):
        return None
    sizes, values, errors = curve["sizes"], curve["values"], curve["errors"]
    low, high = curve["equivalent"]
    name = curve["criterion"].replace("_", " ")
    ends = [v + side * e for side in (-2, 2) for v, e in zip(values, errors, strict=True)]
    frame = _size_frame(sizes, padded(ends))
    points, marks = [], []
    for size, value, error, near in zip(sizes, values, errors, curve["nearly_equal"], strict=True):
        x, y = frame.at(size, value)
        spread = ""
        if error > 0.0:
            top, bottom = frame.at(size, value + 2 * error)[1], frame.at(size, value - 2 * error)[1]
            marks.append(f'<path class="error" d="M{x:g} {bottom:g}V{top:g}"/>')
            spread = f" ± {readable(2 * error, 2)}"
        style, radius, word = (
            ("dot chosen-dot", 6.5, "chosen") if size == curve["chosen"]
            else ("dot", 4, "nearly as good") if near
            else ("dot hollow", 4, "worse")
        )  # fmt: skip
        marks.append(f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius}"/>')
        points.append((x, y, f"{counted(size, 'feature')}: {readable(value)}{spread} ({word})"))
    content = frame.band(low, high) + frame.axes("number of features", name)
    content += frame.line(sizes, values) + "".join(marks)
    content += frame.upright(curve["chosen"], f"chosen: {curve['chosen']}")
    inner = (
        " It chose for the fit to all rows, not for the final selection." if curve["inner"] else ""
    )
    what = CRITERIA.get(curve["criterion"], f"the criterion {name}")
    caption = (
        f"Higher is better: {what}. Upright lines are two standard errors. The shaded "
        f"numbers, {low} to {high}, are nearly as good as the best: they lose less than that, or "
        f"than {readable(curve['tolerance'])}.{inner}"
    )
    label = (
        f"{name} for {len(sizes)} numbers of features from {sizes[0]} to {sizes[-1]}; "
        f"{curve['chosen']} was chosen, {low} to {high} are nearly as good."
    )
    return Chart("criterion", "The label-free criterion", caption, svg(content, label), points)


def _gains(summary: Mapping[str, Any]) -> Chart:
    """Draw what each next feature adds."""
    path = summary["path"]
    gains, chosen = path["gain"], path["chosen"]
    texts = [
        f"{step}. {name} adds {readable(gain)}; a price of {readable(price)} selects "
        f"{counted(step, 'feature')}"
        for step, (name, gain, price) in enumerate(
            zip(path["name"], gains, path["price"], strict=True), start=1
        )
    ]
    inner = " (of the fit to all rows)" if path["inner"] else ""
    caption = (
        f"By how much the objective falls when the next feature enters{inner}. Bars up to the "
        "dashed line are selected. The sparsity penalty is a price: a feature is bought while it "
        "adds more than it costs."
    )
    label = (
        f"Gains of {len(gains)} features, from {readable(gains[0])} down to "
        f"{readable(gains[-1])}; the first {chosen} are selected."
    )
    content, points = _bars(gains, chosen, ("features so far", "gain"), texts, zero=True)
    return Chart("gain", "What each next feature adds", caption, svg(content, label), points)


def _scores(summary: Mapping[str, Any]) -> Chart:
    """Draw the scores along the ranking."""
    path = summary["path"]
    scores = [float(score or 0.0) for score in path["score"]]
    chosen = min(path["chosen"], len(scores))
    texts = [
        f"{rank}. {name}: score {readable(score, 4)}"
        for rank, (name, score) in enumerate(zip(path["name"], scores, strict=True), start=1)
    ]
    part = ""
    if path["length"] > len(scores):
        part = f" Only the first {len(scores)} of {path['length']:,} are drawn."
    caption = (
        f"How the scores fall along the ranking. Bars up to the dashed line are selected.{part}"
    )
    label = f"Scores of {len(scores)} features in the order of their ranks; {chosen} are selected."
    zero = min(scores) <= 0.25 * max(scores)
    content, points = _bars(scores, chosen, ("rank", "score"), texts, zero=zero)
    return Chart("scores", "Scores along the ranking", caption, svg(content, label), points)


def _bars(
    values: Sequence[float], chosen: int, names: tuple[str, str], texts: list[str], *, zero: bool
) -> tuple[str, list[tuple[float, float, str]]]:
    """Draw a bar for every feature, those that are not selected faint; return also the points."""
    steps = list(range(1, len(values) + 1))
    frame = Frame((0.0, len(values) + 1.0), padded(values, zero=zero))
    content = frame.axes(*names)
    content += frame.bars(steps[:chosen], values[:chosen], "bar")
    content += frame.bars(steps[chosen:], values[chosen:], "bar faint")
    if chosen < len(values):
        content += frame.upright(chosen + 0.5, f"selected: {chosen}")
    points = zip(steps, values, texts, strict=True)
    return content, [(*frame.at(step, value), text) for step, value, text in points]


def _loss(summary: Mapping[str, Any]) -> Chart:
    """Draw the loss that is left."""
    loss, chosen = summary["path"]["loss"], summary["path"]["chosen"]
    sizes = list(range(len(loss)))
    frame = Frame((0.0, float(max(sizes[-1], 1))), padded(loss, zero=True))
    content = frame.axes("features so far", "loss") + frame.line(sizes, loss)
    if chosen < len(loss):
        content += frame.upright(chosen, f"selected: {chosen}")
        x, y = frame.at(chosen, loss[chosen])
        content += f'<circle class="dot chosen-dot" cx="{x:g}" cy="{y:g}" r="6"/>'
    caption = (
        "The regularised squared error of the cluster indicators when only the first features may "
        "be used: where it is flat, more features tell nothing new."
    )
    label = (
        f"Loss against the number of features: {readable(loss[0])} without any, "
        f"{readable(loss[min(chosen, len(loss) - 1)])} with the {chosen} selected."
    )
    points = [
        (*frame.at(size, value), f"{counted(size, 'feature')}: loss {readable(value, 4)}")
        for size, value in zip(sizes, loss, strict=True)
    ]
    return Chart("loss", "What is left unexplained", caption, svg(content, label), points)


def _objective(summary: Mapping[str, Any]) -> Chart | None:
    """Draw the objective after every iteration."""
    objective, values = summary["objective"], objective_values(summary)
    if len(values) < FEWEST_STEPS:
        return None
    steps = list(range(1, len(values) + 1))
    frame = Frame((1.0, float(len(values))), padded(values))
    content = frame.axes("iteration", "objective") + frame.line(steps, values)
    radius = 4 if len(values) <= 40 else 2
    points = []
    for step, value in zip(steps, values, strict=True):
        x, y = frame.at(step, value)
        content += f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{radius}"/>'
        points.append((x, y, f"iteration {step}: {readable(value, 6)}"))
    ended = f" It ended because {objective['status']}." if objective["status"] else ""
    caption = f"What the method minimises, after each of its iterations.{ended}"
    label = (
        f"Objective after {counted(len(values), 'iteration')}, from {readable(values[0], 4)} to "
        f"{readable(values[-1], 4)}."
    )
    return Chart("objective", "Objective per iteration", caption, svg(content, label), points)


def objective_note(summary: Mapping[str, Any]) -> str:
    """Tell the objective in a sentence where there is no chart of it."""
    name, objective = summary["method"]["name"], summary["objective"]
    if objective is None:
        return f"{name} does not iterate, so there is no objective to draw."
    values = objective_values(summary)
    if not values or len(values) >= FEWEST_STEPS:
        return ""
    ended = f" and ended because {objective['status']}" if objective["status"] else ""
    told = ", then ".join(readable(value, 4) for value in values)
    return f"{name} took {counted(len(values), 'iteration')} (objective {told}){ended}."


def objective_values(summary: Mapping[str, Any]) -> list[float]:
    """Return the finite values of the objective."""
    values = summary["objective"]["values"] if summary["objective"] else []
    return [value for value in values if isinstance(value, int | float)]


def _size_frame(sizes: Sequence[int], y: tuple[float, float]) -> Frame:
    """Return a frame for numbers of features."""
    low, high = float(sizes[0]), float(sizes[-1])
    if high >= LOGARITHMIC * low:
        return Frame((low / 1.15, high * 1.15), y, log=True)
    room = 0.04 * (high - low) or 1.0
    return Frame((low - room, high + room), y)
