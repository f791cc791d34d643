"""Arguments and options that several commands share, and how their words are read.

`Reading`, `Choosing` and `Constraining` are groups: a command that takes one has all of
its options, and hands it on as a whole. A new option is a field there, and nothing else here.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
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
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same number gives the same answer.")]


@dataclass
class Reading:
    """How a table is read: parameters of `featsieve.datasets.read_table`."""

    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Leave a column out; can be given several times."),
    ] = None
    drop_text: Annotated[
        bool,
        typer.Option("--drop-text", help="Leave out every column that does not hold numbers."),
    ] = False
    encode: Annotated[
        bool,
        typer.Option(
            "--encode",
            help="Let columns of words take part: those of few different ones (at most the root of "
            "the number of rows) as categories, dates as days.",
        ),
    ] = False
    encode_order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[COLUMN=]LOW,...,HIGH",
            help="A category whose words have an order: 0, 1, 2, ...; without a column, all whose "
            "words are these. Can be given several times.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a text file names the columns [default: unless it "
            "holds numbers only].",
            show_default=False,
        ),
    ] = None
    id_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the names of the samples.")
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with known classes: left out of the features, and used to judge the "
            "result only.",
        ),
    ] = None
    layer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Layer of a .h5ad file to read in the place of X."),
    ] = None
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Turn numbers written as text (<50, 12.3%, $1,234.00, 1 234) into numbers, and "
            "other cells of such columns into missing values; every change is listed.",
        ),
    ] = False
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|NUMBER",
            help="Sheet of a workbook [default: the largest].",
            show_default=False,
        ),
    ] = None
    transpose: Annotated[
        bool, typer.Option("--transpose", help="Rows are features, columns are samples.")
    ] = False

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

    n_clusters: Annotated[
        Any,
        typer.Option(
            "--clusters",
            parser=read_count,
            metavar="auto|K",
            help="How many clusters of samples to look for.",
        ),
    ] = "auto"
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Give every column mean 0 and variance 1 first.")
    ] = False
    impute: Annotated[
        str | None,
        typer.Option(
            metavar="median|nearest|category",
            help="Fill missing values, which are refused otherwise: with the column's median, from "
            "the nearest rows, or (in categories) as a level of their own.",
        ),
    ] = None
    counts: Annotated[
        bool | None,
        typer.Option(
            "--counts/--no-counts",
            help="Whether the values are raw counts: rows are brought to their median total, then "
            "log(1 + x) is taken [default: where a .h5ad file holds whole numbers].",
            show_default=False,
        ),
    ] = None
    center_rows: Annotated[
        bool,
        typer.Option(
            "--center-rows",
            help="Take the mean out of every row: what moves all columns alike (brightness, "
            "dilution).",
        ),
    ] = False
    random_state: Seed = 0
    n_features: Annotated[
        Any,
        typer.Option(
            "--features",
            "--genes",
            parser=read_count,
            metavar="auto|significant|K|SHARE",
            help="How many features: a count, a share such as 0.1, what suffices to show the "
            "clusters (JASFS finds it for all methods of a comparison), or all that go with them "
            "at q <= 0.05 (JASFS; it takes some forty fits).",
        ),
    ] = "auto"
    n_subsamples: Annotated[
        int | None,
        typer.Option(
            "--subsamples",
            metavar="N",
            help="Repeat the selection N times on 80 % of the rows, to see what comes back "
            "[default: 10, or 0 for tables of more than 20 million values].",
        ),
    ] = None


@dataclass
class Keeping:
    """Which features are there in any case or never, and inside of which batches."""

    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...|@FILE",
            help="Features that are selected in any case: names or patterns such as 'HLA-*', or "
            "@genes.txt for a file with one in each line; of .h5ad also a column of var with True "
            "and False. Can be given several times.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...|@FILE", help="Features that are never selected, likewise."),
    ] = None
    batch_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with batches (a plate, a donor; of obs for .h5ad): no feature, and the "
            "clusters inside of batches count.",
        ),
    ] = None

    def read(self) -> dict[str, Any]:
        """Return the constraints, those in files read."""
        from featsieve.workflow.constraints import split_names

        return {"keep": split_names(self.keep), "exclude": split_names(self.exclude)}


@dataclass
class Constraining(Keeping):
    """What may be selected together, and at which price."""

    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Features that are selected together or not at all: columns `feature`, `group`.",
        ),
    ] = None
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Prices: columns `feature` (or the name of a group) and `price`; others cost 1.",
        ),
    ] = None
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SUM", help="What the features may cost together, in place of their number."
        ),
    ] = None

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
        inside = fields(groups[p.name]) if p.name in groups else ()
        options = [p.replace(name=f.name, default=f.default, annotation=f.type) for f in inside]
        spread += options or [p]

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(*args, **given)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in spread]
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return run
