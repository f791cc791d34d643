"""``featsieve demo``: the main job on embedded data, tables of which the truth is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import output

if TYPE_CHECKING:
    from featsieve.workflow import SelectionRun

FILES = ("planted.html", "noise.html", "digits.html")


def demo(
    output_folder: Annotated[
        Path, options.output_option("FOLDER", "Folder of the reports.")
    ] = Path("demo-report"),
    force: options.Force = False,
) -> None:
    """Select features of embedded tables with known truth, and write reports to look at.

    Planted columns (are they found?), noise (is it told from signal?) and handwritten digits (which
    pixels?). It takes less than a minute and needs no network. Earlier reports are replaced with
    `--force` only.

    Example: `featsieve demo -o demo-report`
    """
    from featsieve.io.files import write_text
    from featsieve.io.results import result_folder
    from featsieve.report import render_selection
    from featsieve.workflow.outputs import summarize

    console = output()
    with (
        result_folder(output_folder, names=FILES, overwrite=force) as new,
        console.status("Selecting features of embedded tables"),
    ):
        for name, run, truth, settings in _runs():
            write_text(new / name, render_selection(summarize(run, **settings)))
            console.print(_describe(run, truth), markup=False, highlight=False)
    console.print("\nYour own table has samples in rows: featsieve select my.csv -o my-selection")
    typer.echo(f"\nOpen {output_folder / FILES[0]} in a browser.")


def _runs() -> Iterator[tuple[str, "SelectionRun", str, dict[str, Any]]]:
    """Yield the report's name, a selection, what is true of its table, and how it is shown."""
    import numpy as np
    from sklearn.datasets import load_digits

    from featsieve.datasets import Dataset, make_planted
    from featsieve.workflow import select_features

    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, random_state=0)
    kinds = np.where(planted.informative, "signal", "noise")
    names = [f"{kind}_{j}" for j, kind in enumerate(kinds)]  # by the truth
    table = Dataset("planted", planted.X, planted.labels, names)
    yield FILES[0], select_features(table), "four clusters in 20 columns, called signal_", {}
    noise = np.random.default_rng(0).standard_normal((150, 1000))
    yield FILES[1], select_features(Dataset("noise", noise)), "nothing", {}
    digits = select_features(Dataset("digits", *load_digits(return_X_y=True)), n_clusters=10)
    yield FILES[2], digits, "ten digits of 8 x 8 pixels", {"image_shape": (8, 8)}


def _describe(run: "SelectionRun", truth: str) -> str:
    """Say what was found in a table, beside what is there."""
    sieve = run.selector
    found = (
        f"{len(run.selected)} of {sieve.n_features_in_} columns for {sieve.n_clusters_} clusters"
    )
    right = sum(name.startswith("signal_") for name in run.selected)
    planted = f", {right} of them planted" if right else ""
    structure = f"; structure: {run.structure.answer}" if run.structure else ""
    return f"{run.table.name} (truth: {truth}): {found}{planted}{structure}"
