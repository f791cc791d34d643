"""Arguments and options that several commands share, and how their words are read."""

from pathlib import Path
from typing import Annotated, Any

import typer

# As in featsieve.workflow.methods.method_names, which would have to be loaded for a help text.
METHODS = (
    "jasfs, aufs, laplacianscore, maxvariance, mcfs, ndfs, randomselector, rsfs, rufs, sogfs, "
    "spec, udfs, ugfs, urafs, usfs"
)


def read_count(text: str) -> int | float | str:
    """Return what --clusters and --features mean: a count, a share or "auto"."""
    word = text.strip().lower()
    for kind in (int, float):
        try:
            return word if word == "auto" else kind(word)
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


def features_option(help_text: str) -> Any:
    """Return --features, which means something else to every command."""
    return typer.Option(parser=read_count, metavar="auto|K|SHARE", help=help_text)


def output_option(metavar: str, help_text: str) -> Any:
    """Return --output, or -o for short."""
    return typer.Option("--output", "-o", metavar=metavar, help=help_text)


TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="Rows are samples, columns are features: .csv .tsv (also .gz) .parquet .npz .mat "
        ".h5ad",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave a column out; can be given several times."),
]
DropText = Annotated[
    bool, typer.Option("--drop-text", help="Leave out every column that does not hold numbers.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file names the columns [default: unless it holds "
        "numbers only].",
        show_default=False,
    ),
]
IdColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the names of the samples.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with known classes: left out of the features, and used to judge the result "
        "only.",
    ),
]
Impute = Annotated[
    str | None,
    typer.Option(metavar="median", help="Fill missing values, which are refused otherwise."),
]
Standardize = Annotated[
    bool, typer.Option("--standardize", help="Give every column mean 0 and variance 1 first.")
]
Clusters = Annotated[
    Any,
    typer.Option(
        parser=read_count, metavar="auto|K", help="How many clusters of samples to look for."
    ),
]
Subsamples = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Repeat the selection N times on 80 % of the rows, to see what comes back [default: "
        "10, or 0 for tables of more than 20 million values].",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="The same number gives the same answer.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files with these names that are there already.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
