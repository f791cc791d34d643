"""Arguments and options that several commands share, and how their words are read."""

from pathlib import Path
from typing import Annotated, Any

import typer

# As in featsieve.workflow.method_names, which would have to be loaded for a help text.
METHODS = (
    "jasfs, aufs, laplacianscore, maxvariance, mcfs, ndfs, randomselector, rsfs, rufs, sogfs, "
    "spec, udfs, ugfs, urafs, usfs"
)
FORMATS = ("csv", "tsv", "parquet", "npz", "mat", "h5ad")

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
    str, typer.Option(metavar="auto|K", help="How many clusters of samples to look for.")
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


def features_option(help_text: str) -> Any:
    """Return --features, which means something else to every command."""
    return typer.Option(metavar="auto|K|SHARE", help=help_text)


def output_option(metavar: str, help_text: str) -> Any:
    """Return --output, or -o for short."""
    return typer.Option("--output", "-o", metavar=metavar, help=help_text)


def read_selection(clusters: str, features: str, impute: str | None) -> dict[str, Any]:
    """Return --clusters, --features and --impute as `featsieve.workflow` wants them."""
    if impute is not None and impute.strip().lower() != "median":
        raise ValueError(f"--impute takes median; got {impute!r}.")
    return {
        "n_clusters": read_clusters(clusters),
        "n_features": read_features(features),
        "impute": impute and "median",
    }


def read_clusters(text: str) -> Any:
    """Return what --clusters means."""
    return _number(text, (int,), "--clusters takes a number such as 5, or auto")


def read_features(text: str) -> Any:
    """Return what --features means."""
    hint = "--features takes a count such as 50, a share such as 0.1, or auto"
    return _number(text, (int, float), hint)


def _number(text: str, kinds: tuple[type, ...], hint: str) -> Any:
    """Return "auto", or a number of the first kind that can be read."""
    word = text.strip().lower()
    for kind in kinds if word != "auto" else (str,):
        try:
            return kind(word)
        except ValueError:
            pass
    raise ValueError(f"{hint}; got {text!r}.")


def read_image(text: str | None) -> tuple[int, int] | None:
    """Return what --image means."""
    if text is None:
        return None
    height, _, width = text.strip().lower().partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise ValueError(f"--image takes height x width in pixels, such as 28x28; got {text!r}.")
    return int(height), int(width)


def read_format(text: str | None) -> str | None:
    """Return what --format means, as the ending of a file."""
    if text is None:
        return None
    word = text.strip().lower().removeprefix(".")
    if word not in FORMATS:
        raise ValueError(f"--format takes one of {', '.join(FORMATS)}; got {text!r}.")
    return f".{word}"


def read_methods(text: str) -> list[str]:
    """Return what --methods means."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if [word.lower() for word in words] == ["all"]:
        return METHODS.split(", ")
    if not words:
        raise ValueError("--methods takes names separated by commas, such as jasfs,mcfs.")
    return words
