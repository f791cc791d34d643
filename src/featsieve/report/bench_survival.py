"""What is left of the oracle's scores beside random rankings with the same budget."""

from collections.abc import Mapping
from dataclasses import dataclass

from featsieve.report.bench_facts import DatasetFact, MethodFact
from featsieve.report.bench_scores import RANDOM, Budget, Key, Score
from featsieve.report.published import load_published


@dataclass(frozen=True)
class Survival:
    """A data set under the oracle: who exceeds random rankings with the same budget.

    ``above`` and ``not_above`` are methods of this run; ``published_not_above`` are rows of the
    paper's table whose accuracy does not exceed our random control's (None: not comparable).
    """

    dataset: str
    control: str
    accuracy: float
    budget: Budget
    above: tuple[str, ...]
    not_above: tuple[str, ...]
    published_not_above: tuple[str, ...] | None


def survival_of(
    scores: Mapping[Key, Score],
    budgets: Mapping[Key, Budget],
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> tuple[Survival, ...]:
    """Compare every oracle accuracy with that of the random control on the same data set.

    Parameters
    ----------
    scores : mapping
        (data set, method) -> Score by ACC, oracle track.
    budgets : mapping
    datasets : tuple of DatasetFact
    methods : tuple of MethodFact

    Returns
    -------
    tuple of Survival
        Empty without a random control.
    """
    control = next((fact.name for fact in methods if fact.selector == RANDOM), None)
    if control is None:
        return ()
    paper = load_published()
    found = []
    for fact in datasets:
        if (fact.name, control) not in scores:
            continue
        reached = scores[fact.name, control].mean
        others = [m.name for m in methods if not m.control and (fact.name, m.name) in scores]
        above = tuple(name for name in others if scores[fact.name, name].mean > reached)
        printed = None
        if fact.published is not None and not fact.differs:
            # the paper prints two decimals of percent
            printed = tuple(
                name
                for name in paper.methods
                if paper.scores["acc"][fact.name, name][0] <= round(100 * reached, 2)
            )
        found.append(
            Survival(
                fact.name,
                control,
                reached,
                budgets[fact.name, control],
                above,
                tuple(name for name in others if name not in above),
                printed,
            )
        )
    return tuple(found)
