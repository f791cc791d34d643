"""Arguments and options that several commands share, and how their words are read.

`Reading`, `Choosing` and `Constraining` are groups: a command that takes one has all of
its options, and hands it on as a whole. A new option is a field there, and nothing else here.
"""

# ruff: noqa: RUF009 - fields of a group are made by calls

import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from featsieve.datasets import Dataset

# As in featsieve.workflow.methods.method_names, which would have to be loaded for a help text.
METHODS = (
    "jasfs, aufs, dufs, ifpca, laplacianscore, maxvariance, mcfs, ndfs, randomselector, rsfs, "
    "rufs, skfr, sogfs, sparsekmeans, spec, udfs, ugfs, urafs, usfs"
)


def read_count(text: str) -> int | float | str:
    """Return what --clusters and --features mean: a count, a share, "auto" or "significant"."""
    word = text.strip().lower()
    for kind in (int, float):
        try:
            return word if word in ("auto", "significant") else kind(word)
        except ValueError:
            pass
    raise typer.BadParameter(f"it takes a number such as 5, or auto; got {text!r}.")


def read_methods(text: str) -> list[str]:
    """Return what --methods means: names, or all there are."""
    words = METHODS if text.strip().lower() == "all" else text
    names = [word.strip() for word in words.split(",") if word.strip()]
    if not names:
        raise typer.BadParameter("it takes names separated by commas, such as jasfs,mcfs.")
    return names


def read_image(text: str) -> tuple[int, int]:
    """Return what --image means: height and width."""
    height, _, width = text.strip().lower().partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise typer.BadParameter(f"it takes height x width in pixels, such as 28x28; got {text!r}.")
    return int(height), int(width)


def output_option(metavar: str, help_text: str) -> Any:
    """Return --output, or -o for short."""
    return typer.Option("--output", "-o", metavar=metavar, help=help_text)


TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="Rows are samples, columns are features: .csv .tsv (also .gz) .xlsx .xls .ods "
        ".parquet .npz .mat .h5ad",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files with these names that are there already.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
SEED = "The same number gives the same answer."
Seed = Annotated[int, typer.Option("--seed", min=0, help=SEED)]


def option(text: str, *names: str, default: Any = None, **how: Any) -> Any:
    """Return a field of a group: an option, by default called like the field, with its help."""
    return field(default=default, metadata={"option": typer.Option(*names, help=text, **how)})


def flag(name: str, text: str) -> Any:
    """Return a field of a group that is False unless its option is given."""
    return option(text, name, default=False)


@dataclass
class Reading:
    """How a table is read: parameters of `featsieve.datasets.read_table`."""

    drop: list[str] | None = option(
        "Leave a column out; can be given several times.", metavar="COLUMN"
    )
    drop_text: bool = flag("--drop-text", "Leave out every column that does not hold numbers.")
    encode: bool = flag(
        "--encode",
        "Let columns of words take part: those of few different ones (at most the root of "
        "the number of rows) as categories, dates as days.",
    )
    encode_order: list[str] | None = option(
        "A category whose words have an order: 0, 1, 2, ...; without a column, all whose "
        "words are these. Can be given several times.",
        metavar="[COLUMN=]LOW,...,HIGH",
    )
    header: bool | None = option(
        "Whether the first line of a text file names the columns [default: unless it "
        "holds numbers only].",
        "--header/--no-header",
        show_default=False,
    )
    id_column: str | None = option("Column with the names of the samples.", metavar="COLUMN")
    label_column: str | None = option(
        "Column with known classes: left out of the features, and used to judge the result only.",
        metavar="COLUMN",
    )
    layer: str | None = option("Layer of a .h5ad file to read in the place of X.", metavar="NAME")
    repair: bool = flag(
        "--repair",
        "Turn numbers written as text (<50, 12.3%, $1,234.00, 1 234) into numbers, and "
        "other cells of such columns into missing values; every change is listed.",
    )
    sheet: str | None = option(
        "Sheet of a workbook [default: the largest].", metavar="NAME|NUMBER", show_default=False
    )
    transpose: bool = flag("--transpose", "Rows are features, columns are samples.")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `featsieve.datasets.read_table`."""
        found = dict(vars(self))
        orders: dict[str, Any] = {}
        for text in found.pop("encode_order") or ():
            name, sign, words = text.rpartition("=")
            order = [word.strip() for word in words.split(",")]
            if bool(sign) != bool(name) or len(order) < 2 or not all(order):
                raise typer.BadParameter(
                    f"--encode-order takes a column and its words, such as size=small,large, or "
                    f"words alone; got {text!r}."
                )
            if name:
                orders[name] = order
            else:
                orders.setdefault("*", []).append(order)
        return found | ({"encode": orders} if orders else {})

    def read(self, path: Path, progress: Callable[[str], None], **more: Any) -> "Dataset":
        """Return the table in a file."""
        from featsieve.datasets import read_table

        parameters = self.parameters() | more
        progress(f"reading {path.name}")
        return read_table(path, **parameters)


@dataclass
class Choosing:
    """How features are selected: parameters of `featsieve.workflow.select_features`."""

    n_clusters: Any = option(
        "How many clusters of samples to look for.",
        "--clusters",
        default="auto",
        parser=read_count,
        metavar="auto|K",
    )
    standardize: bool = flag("--standardize", "Give every column mean 0 and variance 1 first.")
    impute: str | None = option(
        "Fill missing values, which are refused otherwise: with the column's median, from "
        "the nearest rows, or (in categories) as a level of their own.",
        metavar="median|nearest|category",
    )
    counts: bool | None = option(
        "Whether the values are raw counts: rows are brought to their median total, then "
        "log(1 + x) is taken [default: where a .h5ad file holds whole numbers].",
        "--counts/--no-counts",
        show_default=False,
    )
    center_rows: bool = flag(
        "--center-rows",
        "Take the mean out of every row: what moves all columns alike (brightness, dilution).",
    )
    random_state: int = option(SEED, "--seed", default=0, min=0)
    n_features: Any = option(
        "How many features: a count, a share such as 0.1, what suffices to show the "
        "clusters (JASFS finds it for all methods of a comparison), or all that go with them "
        "at q <= 0.05 (JASFS; it takes some forty fits).",
        "--features",
        "--genes",
        default="auto",
        parser=read_count,
        metavar="auto|significant|K|SHARE",
    )
    n_subsamples: int | None = option(
        "Repeat the selection N times on 80 % of the rows, to see what comes back "
        "[default: 10, or 0 for tables of more than 20 million values].",
        "--subsamples",
        metavar="N",
    )


@dataclass
class Keeping:
    """Which features are there in any case or never, and inside of which batches."""

    keep: list[str] | None = option(
        "Features that are selected in any case: names or patterns such as 'HLA-*', or "
        "@genes.txt for a file with one in each line; of .h5ad also a column of var with True "
        "and False. Can be given several times.",
        metavar="NAME,...|@FILE",
    )
    exclude: list[str] | None = option(
        "Features that are never selected, likewise. They still help to find the clusters: --drop "
        "leaves a column out of everything.",
        metavar="NAME,...|@FILE",
    )
    batch_column: str | None = option(
        "Column with batches (a plate, a donor; of obs for .h5ad): no feature, and the "
        "clusters inside of batches count.",
        metavar="COLUMN",
    )

    def read(self) -> dict[str, Any]:
        """Return the constraints, those in files read."""
        from featsieve.workflow.constraints import split_names

        return {"keep": split_names(self.keep), "exclude": split_names(self.exclude)}


@dataclass
class Constraining(Keeping):
    """What may be selected together, and at which price."""

    groups: Path | None = option(
        "Features that are selected together or not at all: columns `feature`, `group`.",
        metavar="FILE.csv",
    )
    costs: Path | None = option(
        "Prices: columns `feature` (or the name of a group) and `price`; others cost 1.",
        metavar="FILE.csv",
    )
    budget: float | None = option(
        "What the features may cost together, in place of their number.", metavar="SUM"
    )

    def read(self) -> dict[str, Any]:
        """Return the constraints, those in files read."""
        from featsieve.workflow.constraints import read_costs, read_groups

        return super().read() | {
            "groups": None if self.groups is None else read_groups(self.groups),
            "costs": None if self.costs is None else read_costs(self.costs),
            "budget": self.budget,
        }


@contextmanager
def new_results(
    table: Path,
    folder: Path,
    names: Collection[str],
    reading: Reading,
    keeping: Keeping,
    *,
    force: bool,
    quiet: bool = False,
) -> Iterator[tuple["Dataset", Path, Callable[[str], None]]]:
    """Read a table, and lend the folder in which its results become complete, and the progress."""
    from featsieve.cli.console import progress_line
    from featsieve.io.results import result_folder

    if table.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"The results would replace the table {table}: name another folder (-o).")
    with progress_line(quiet=quiet) as progress:
        data = reading.read(table, progress, batch_column=keeping.batch_column)
        with result_folder(folder, names=names, overwrite=force) as unfinished:
            yield data, unfinished, progress


def spread_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with an option for every field of the groups among its parameters."""
    parameters = inspect.signature(command).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in parameters}
    groups = {name: kind for name, kind in groups.items() if is_dataclass(kind)}
    spread: list[inspect.Parameter] = []
    for p in parameters:
        for f in fields(groups[p.name]) if p.name in groups else ():
            annotation: Any = Annotated[f.type, f.metadata["option"]]
            spread.append(p.replace(name=f.name, default=f.default, annotation=annotation))
        spread += [] if p.name in groups else [p]

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        return command(*args, **given)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in spread]
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return run
