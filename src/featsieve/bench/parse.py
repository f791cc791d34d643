"""TOML to plan. Every message names the key that is wrong, and what it could be."""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from featsieve.bench.cells import DEPENDENT, EXPERIMENTS
from featsieve.bench.methods import (
    ALL_FEATURES,
    RANDOM,
    RESERVED,
    selector_facts,
    selector_names,
)
from featsieve.bench.plan import Method, Plan
from featsieve.datasets import dataset_info
from featsieve.io.formats import FORMATS
from featsieve.io.guard import read_small
from featsieve.io.table import join_labels, split_labels, table_format

PLAN_KEYS = (
    "extends", "title", "datasets", "experiments", "counts", "curve_counts", "kmeans_seeds",
    "seeds", "cell_seconds", "scatter", "grids", "methods",
)  # fmt: skip
REQUIRED = ("datasets", "experiments", "counts", "methods")
METHOD_KEYS = ("name", "selector", "params", "grid", "counts", "per_count", "control", "rankings")
# RandomSelector is given as many selections to choose from as the method with the most.
LARGEST_GRID = "largest grid"
OWN = "own"
# What a value must be, in words.
KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    list: "a list with at least one entry",
    dict: "a table ({ ... } or [section])",
}
_T = TypeVar("_T")


def plan_names() -> list[str]:
    """Return the names of the plans that come with the library.

    Examples
    --------
    >>> from featsieve.bench import plan_names
    >>> plan_names()
    ['open', 'paper', 'paper_thin', 'planted', 'smoke']
    """
    folder = files("featsieve.bench") / "plans"
    return sorted(
        item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")
    )


def shipped_text(name: str) -> str:
    """Return the TOML file of a plan that comes with the library."""
    return (files("featsieve.bench") / "plans" / f"{name}.toml").read_text(encoding="utf-8")


def load_plan(name_or_path: str | os.PathLike[str]) -> Plan:
    """Return a plan that comes with the library, or that of a TOML file.

    Parameters
    ----------
    name_or_path : str or path

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If there is no such plan, or something in it is unknown or of the wrong kind.

    Examples
    --------
    >>> from featsieve.bench import load_plan
    >>> load_plan("paper").experiments
    ('default', 'grid', 'label-free', 'curve', 'time', 'scatter')
    """
    given = os.fspath(name_or_path)
    if given in plan_names():
        return parse_plan(shipped_text(given), name=given)
    path = Path(given)
    if not path.is_file():
        raise ValueError(
            f"There is no plan {given!r}: it must be one of {', '.join(plan_names())}, or the path "
            "of a TOML file."
        )
    return parse_plan(read_small(path, what="plan"), name=path.stem)


def parse_plan(text: str, *, name: str) -> Plan:
    """Return the plan that a TOML text describes; ``name`` is what it is called."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The plan {name!r} is not TOML: {error}.") from error
    except RecursionError as error:
        raise ValueError(f"The plan {name!r} has lists inside of lists without end.") from error
    try:
        content = _extended(content)
        said = {key: value for key, value in content.items() if key != "extends"}
        resolved = json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)
        return replace(_plan(content, name=name), resolved=resolved)
    except ValueError as error:
        raise ValueError(f"The plan {name!r}: {error}") from error


def _extended(content: dict[str, Any]) -> dict[str, Any]:
    """Return the file with what it leaves out taken from the shipped plan that it extends.

    Lists of [grids] and methods are replaced one by one, by their names; other keys as a whole.
    """
    if "extends" not in content:
        return content
    (name,) = _some("extends", [content["extends"]], plan_names())
    base = _extended(tomllib.loads(shipped_text(name)))
    merged = {**base, **content}
    merged["grids"] = {**base.get("grids", {}), **_typed("grids", content.get("grids", {}), dict)}
    methods = {entry["name"]: entry for entry in base["methods"]}
    for entry in content.get("methods", []):
        called = _typed("methods", entry, dict).get("name", entry.get("selector"))
        methods[called] = {**methods.get(called, {}), **entry}
    merged["methods"] = list(methods.values())
    return merged


def _plan(content: dict[str, Any], *, name: str) -> Plan:
    """Check and convert the whole file."""
    _check_keys("the plan", content, PLAN_KEYS)
    for key in REQUIRED:
        if key not in content:
            raise ValueError(f"the key {key!r} is missing.")
    grids = _typed("grids", content.get("grids", {}), dict)
    lists = {key: _typed(f"grids.{key}", values, list) for key, values in grids.items()}
    entries = _typed("methods", content["methods"], list)
    methods = tuple(_method(_typed("methods", entry, dict), lists) for entry in entries)
    names = [method.name for method in methods]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"methods: the name {twice[0]!r} comes twice; each needs its own.")
    scatter = _typed("scatter", content.get("scatter", {}), dict)
    _check_keys("scatter", scatter, ("datasets", "methods"))
    datasets = _datasets("datasets", content["datasets"])
    scattered = _datasets("scatter.datasets", scatter.get("datasets", list(datasets)))
    seconds = content.get("cell_seconds", 600.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"cell_seconds must be a number above 0; got {seconds!r}.")
    experiments = _some("experiments", content["experiments"], EXPERIMENTS)
    chosen = [kind for kind in DEPENDENT if kind in experiments]
    if chosen and "grid" not in experiments:
        raise ValueError(f"experiments: {chosen[0]!r} is chosen from 'grid': add it.")
    counts = _whole("counts", content["counts"], low=1)
    return Plan(
        name=name,
        title=_typed("title", content.get("title", name), str),
        datasets=datasets,
        experiments=experiments,
        methods=methods,
        counts=tuple(sorted(set(counts))),
        curve_counts=_whole("curve_counts", content.get("curve_counts", list(counts)), low=1),
        seeds=_whole("seeds", content.get("seeds", [0]), low=0),
        kmeans_seeds=_whole("kmeans_seeds", [content.get("kmeans_seeds", 10)], low=1)[0],
        cell_seconds=float(seconds),
        scatter_datasets=tuple(dataset for dataset in scattered if dataset in datasets),
        scatter_methods=_some("scatter.methods", scatter.get("methods", names), names),
    )


def _method(entry: dict[str, Any], lists: Mapping[str, list[Any]]) -> Method:
    """Check and convert one of the methods."""
    name = _typed("methods: name", entry.get("name", entry.get("selector")), str)
    where = f"methods, {name!r}"
    _check_keys(where, entry, METHOD_KEYS)
    selector = _typed(f"{where}: selector", entry.get("selector", name), str)
    if selector not in selector_names():
        raise ValueError(
            f"{where}: there is no selector {selector!r}; it must be one of "
            f"{', '.join(selector_names())}."
        )
    facts = selector_facts(selector)
    params = _typed(f"{where}: params", entry.get("params", {}), dict)
    grid = _typed(f"{where}: grid", entry.get("grid", {}), dict)
    allowed = [key for key in facts.defaults if key not in RESERVED]
    _check_keys(f"{where}: params", params, allowed)
    _check_keys(f"{where}: grid", grid, allowed)
    counts = entry.get("counts")
    if counts not in (None, OWN):
        raise ValueError(f"{where}: counts must be {OWN!r} or left out; got {counts!r}.")
    rankings = entry.get("rankings", LARGEST_GRID if selector == RANDOM else 0)
    if selector != RANDOM and "rankings" in entry:
        raise ValueError(f"{where}: rankings belongs to {RANDOM}; remove it.")
    positive = type(rankings) is int and rankings > 0
    if selector == RANDOM and not positive and rankings != LARGEST_GRID:
        raise ValueError(
            f"{where}: rankings must be {LARGEST_GRID!r} or a positive integer; got {rankings!r}."
        )
    per_count = _typed(f"{where}: per_count", entry.get("per_count", facts.follows_count), bool)
    return Method(
        name=name,
        selector=selector,
        params=params,
        grid={key: _values(f"{where}: grid.{key}", value, lists) for key, value in grid.items()},
        own_count=counts == OWN or selector == ALL_FEATURES,
        per_count=per_count and counts != OWN,
        control=_typed(f"{where}: control", entry.get("control", False), bool),
        rankings=rankings,
    )


def _values(key: str, value: Any, lists: Mapping[str, list[Any]]) -> tuple[Any, ...]:
    """Return the values of a grid: a list, or the name of one."""
    if isinstance(value, str):
        if value not in lists:
            options = ", ".join(map(repr, lists)) or "nothing"
            raise ValueError(f"{key}: there is no list {value!r} in [grids]; it holds {options}.")
        value = lists[value]
    values = tuple(_typed(key, value, list))
    if len({repr(item) for item in values}) < len(values):
        raise ValueError(f"{key}: a value comes twice.")
    return values


def _datasets(key: str, value: Any) -> tuple[str, ...]:
    """Return data sets by their registered names; files by path and column of the classes."""
    names = []
    for entry in _typed(key, value, list):
        name = _file(key, entry) if isinstance(entry, dict) else _typed(key, entry, str)
        try:
            known = table_format(split_labels(name)[0]) is not None
            names.append(name if known else dataset_info(name).name)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from error
    return tuple(dict.fromkeys(names))


def _file(key: str, entry: dict[str, Any]) -> str:
    """Return the one name of a file and the column of its classes."""
    _check_keys(key, entry, ("file", "labels"))
    file = _typed(f"{key}: file", entry.get("file"), str)
    if table_format(file) is None:
        raise ValueError(f"{key}: file must end in one of {', '.join(FORMATS)}; got {file!r}.")
    if "labels" not in entry:
        return file
    return join_labels(file, _typed(f"{key}: labels", entry["labels"], str))


def _check_keys(where: str, content: Mapping[str, Any], options: Sequence[str]) -> None:
    """Raise for keys that mean nothing."""
    for key in content:
        if key not in options:
            listed = f"it must be one of {', '.join(options)}"
            fix = listed if options else "there is nothing to set here: remove it"
            raise ValueError(f"{where}: unknown key {key!r}; {fix}.")


def _some(key: str, value: Any, options: Sequence[str]) -> tuple[str, ...]:
    """Return some of the options, in the order of these."""
    given = _typed(key, value, list)
    for word in given:
        if word not in options:
            listed = ", ".join(map(repr, options))
            raise ValueError(f"{key}: {word!r} is unknown; it must be one of {listed}.")
    return tuple(word for word in options if word in given)


def _whole(key: str, value: Any, *, low: int) -> tuple[int, ...]:
    """Return a list of integers."""
    given = _typed(key, value, list)
    for number in given:
        if type(number) is not int or number < low:
            raise ValueError(f"{key}: integers of at least {low} are needed; got {number!r}.")
    return tuple(given)


def _typed(key: str, value: Any, kind: type[_T]) -> _T:
    """Return a value of the kind that is needed; texts and lists are not empty."""
    if not isinstance(value, kind) or (kind in (str, list) and not value):
        raise ValueError(f"{key} must be {KINDS[kind]}; got {value!r}.")
    return value
