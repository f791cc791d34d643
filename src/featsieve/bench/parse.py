"""TOML to plan. Every message names the key that is wrong, and what it could be."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from featsieve.bench.cells import EXPERIMENTS
from featsieve.bench.methods import ALL_FEATURES, RESERVED, class_of, defaults_of, selector_names
from featsieve.bench.plan import Method, Plan
from featsieve.datasets import dataset_info
from featsieve.io.guard import read_small
from featsieve.io.table import split_labels, table_format
from featsieve.validation import check_number, check_option

REQUIRED = ("datasets", "experiments", "counts", "methods")
OWN = "own"
# What a value must be, in words.
KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    list: "a list with at least one entry",
    dict: "a table ({ ... } or [section])",
}
_T = TypeVar("_T")
# Checks the value of a key, and returns it as a plan has it.
_Reader = Callable[[str, Any], Any]


def plan_names() -> list[str]:
    """Return the names of the plans that come with the library.

    Examples
    --------
    >>> from featsieve.bench import plan_names
    >>> plan_names()
    ['open', 'open_thin', 'paper', 'planted', 'smoke']
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
    ('default', 'grid', 'label-free')
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
        return _plan(_extended(tomllib.loads(text)), name=name)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The plan {name!r} is not TOML: {error}.") from error
    except RecursionError as error:
        raise ValueError(f"The plan {name!r} has lists inside of lists without end.") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"The plan {name!r}: {error}") from error


def _extended(content: dict[str, Any]) -> dict[str, Any]:
    """Return the file with the rest of the plan that it extends: grids and methods by name."""
    if "extends" not in content:
        return content
    own = dict(content)
    check_option("extends", name := own.pop("extends"), plan_names())
    base = _extended(tomllib.loads(shipped_text(name)))
    methods = {entry["name"]: entry for entry in base["methods"]}
    for entry in own.get("methods", []):
        called = _name(entry)
        methods[called] = {**methods.get(called, {}), **entry}
    grids = {**base.get("grids", {}), **_typed("grids", own.get("grids", {}), dict)}
    return {**base, **own, "grids": grids, "methods": list(methods.values())}


def _plan(content: dict[str, Any], *, name: str) -> Plan:
    """Check and convert the whole file."""
    grids = _typed("grids", content.get("grids", {}), dict)
    lists = {key: _typed(f"grids.{key}", values, list) for key, values in grids.items()}
    readers: dict[str, _Reader] = {
        "title": partial(_typed, kind=str),
        "datasets": _datasets,
        "experiments": partial(_some, options=EXPERIMENTS),
        "counts": lambda key, value: tuple(sorted(set(_integers(key, value, low=1)))),
        "kmeans_seeds": partial(_number, low=1, integer=True),
        "seeds": partial(_integers, low=0),
        "cell_seconds": partial(_number, low=0.0, strict=True),
        "methods": lambda key, value: tuple(
            _method(entry, lists) for entry in _typed(key, value, list)
        ),
    }
    _check_keys("the plan", content, ("extends", *readers, "grids"))
    for key in REQUIRED:
        if key not in content:
            raise ValueError(f"the key {key!r} is missing.")
    read = {key: readers[key](key, content[key]) for key in readers if key in content}
    names = [method.name for method in read["methods"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"methods: the name {twice[0]!r} comes twice; each needs its own.")
    if "label-free" in read["experiments"] and "grid" not in read["experiments"]:
        raise ValueError("experiments: 'label-free' is chosen from 'grid': add it.")
    return Plan(**{"name": name, "title": name, **read})


def _method(entry: Any, lists: Mapping[str, list[Any]]) -> Method:
    """Check and convert one of the methods."""
    name = _name(entry)
    where = f"methods, {name!r}"
    keys = ("name", "selector", "params", "grid", "counts", "per_count", "control")
    _check_keys(where, entry, keys)
    selector = _typed(f"{where}: selector", entry.get("selector", name), str)
    if ":" not in selector and selector not in selector_names():
        raise ValueError(
            f"{where}: there is no selector {selector!r}; it must be one of "
            f"{', '.join(selector_names())}, or module:Class."
        )
    follows = class_of(selector)._follows_count  # the first k of more are another selection
    allowed = [key for key in defaults_of(selector) if key not in RESERVED]
    tables = {
        key: _typed(f"{where}: {key}", entry.get(key, {}), dict) for key in ("params", "grid")
    }
    for key, table in tables.items():
        _check_keys(f"{where}: {key}", table, allowed)
    own = entry.get("counts")
    if own not in (None, OWN):
        raise ValueError(f"{where}: counts must be {OWN!r} or left out; got {own!r}.")
    per_count = _typed(f"{where}: per_count", entry.get("per_count", follows), bool)
    return Method(
        name=name,
        selector=selector,
        params=tables["params"],
        grid={
            key: _values(f"{where}: grid.{key}", value, lists)
            for key, value in tables["grid"].items()
        },
        own_count=own == OWN or selector == ALL_FEATURES,
        per_count=per_count and own != OWN,
        control=_typed(f"{where}: control", entry.get("control", False), bool),
    )


def _name(entry: Any) -> str:
    """Return what a method is called: by default as its selector."""
    entry = _typed("methods", entry, dict)
    return _typed("methods: name", entry.get("name", entry.get("selector")), str)


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
        name = _typed(key, entry, str)
        try:
            known = table_format(split_labels(name)[0]) is not None
            names.append(name if known else dataset_info(name).name)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from error
    return tuple(dict.fromkeys(names))


def _check_keys(where: str, content: Mapping[str, Any], options: Sequence[str]) -> None:
    """Raise for keys that mean nothing."""
    for key in content:
        if key not in options:
            listed = f"it must be one of {', '.join(options)}"
            fix = listed if options else "there is nothing to set here: remove it"
            raise ValueError(f"{where}: unknown key {key!r}; {fix}.")


def _some(key: str, value: Any, *, options: Sequence[str]) -> tuple[str, ...]:
    """Return some of the options, in the order of these."""
    given = _typed(key, value, list)
    for word in given:
        check_option(key, word, options)
    return tuple(word for word in options if word in given)


def _integers(key: str, value: Any, *, low: int) -> tuple[int, ...]:
    """Return a list of integers."""
    given = _typed(key, value, list)
    return tuple(_number(f"{key}: each", number, low=low, integer=True) for number in given)


def _number(key: str, value: Any, **limits: Any) -> Any:
    """Return a number within limits."""
    check_number(key, value, **limits)
    return value


def _typed(key: str, value: Any, kind: type[_T]) -> _T:
    """Return a value of the kind that is needed; texts and lists are not empty."""
    if not isinstance(value, kind) or (kind in (str, list) and not value):
        raise ValueError(f"{key} must be {KINDS[kind]}; got {value!r}.")
    return value
