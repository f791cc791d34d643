"""``featsieve inspect``: a fast look at a table before anything heavy."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from featsieve.cli import options
from featsieve.cli.console import output, print_json, progress_line, text_grid

if TYPE_CHECKING:
    from featsieve.datasets import Dataset


def inspect(
    table: options.TableFile,
    *,
    reading: options.Reading,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Look at a table: its shape, its gaps, odd columns, and whether it has clusters at all.

    Nothing is written. At the end stands the command that selects features of this table, with the
    options it needs.

    Whether there are clusters is tested beside copies of the table that have none: with shuffled
    columns, and with the same correlations. Large tables are sampled for it, and it is said so.

    Example: `featsieve inspect genes.csv`

    Example: `featsieve inspect cells.h5ad --label-column cell_type --json`
    """
    from featsieve.workflow.inspect import inspect_table, read_to_inspect

    asked = reading.drop or ()
    with progress_line(quiet=as_json) as progress:
        data, notes = read_to_inspect(table, reading.parameters(), progress)
        look = inspect_table(data, asked=asked, notes=notes, random_state=seed, progress=progress)
    given = [("--id-column", reading.id_column), ("--label-column", reading.label_column)]
    left = [name for name in asked if name not in data.origin.options.get("drop", ())]
    given += [("--layer", reading.layer), *(("--drop", name) for name in left)]
    needed = [word for option, name in given if name is not None for word in (option, name)]
    if reading.header is not None:
        needed.append("--header" if reading.header else "--no-header")
    needed += look["options"]
    kinds = {"select": "selected", "panel": "panel"} if data.cells else {"select": "selected"}
    following = {
        word: shlex.join(["featsieve", word, str(table), "-o", f"{data.name}-{ending}", *needed])
        for word, ending in kinds.items()
    }
    if as_json:
        print_json({**look, "file": str(table), "next": following["select"]} | following)
        return
    from rich.text import Text

    console = output()
    console.print(Text(str(table), style="bold"), soft_wrap=True)
    console.print(text_grid(_facts(data, look)))
    console.print("\nNext", style="bold")
    for line in following.values():
        console.print(Text(line), soft_wrap=True)


def _facts(table: "Dataset", look: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what was seen as pairs of a word and a sentence."""
    from rich.filesize import decimal

    from featsieve.workflow.messages import list_columns, list_counts

    n, d = table.X.shape
    kind = f"{'sparse ' if look['sparse'] else ''}{look['dtype']}"
    yield "shape", f"{n:,} rows (samples), {d:,} columns (features)"
    yield "memory", f"{decimal(look['n_bytes'])} ({kind}), {look['zeros']:.1%} zeros"
    yield "missing", list_counts(look["missing"], "value") if look["missing"] else "none"
    if look["infinite"]:
        yield "infinite", list_counts(look["infinite"], "value")
    kinds = [note["kind"] for note in look["notes"]]
    text, turned = look["text"], table.origin.options.get("transpose")
    if "names" in kinds:  # a note says what to do with those
        text = [name for name in text if table.origin.text.get(name) != n]
    if text:
        of_rows = "" if turned else ", or name it as --id-column or --label-column"
        yield "text", f"{list_columns(text)}: leave it out (--drop-text){of_rows}"
    if table.class_names is not None:
        label = f"{table.label_name!r}: " if table.label_name else ""
        names = ", ".join(table.class_names[:6]) + (", ..." if len(table.class_names) > 6 else "")
        yield "classes", f"{label}{len(table.class_names):,} ({names}) (never used to select)"
    if table.sample_names is not None:
        yield "sample names", f"{table.sample_names[0]!r}, ..."
    for note in look["notes"]:
        yield note["kind"].replace("-", " "), note["text"]
    seen = look["structure"]
    if seen is None:
        if "structure" not in kinds:
            yield "structure", "not looked for: too few rows, or columns that can be used"
        return
    ps = " and ".join(f"{p:.2g}" for p in (seen["p_permuted"], seen["p_rotated"]) if p is not None)
    looked = f"{seen['n_samples']:,} rows and {seen['n_features']:,} columns were looked at"
    yield "structure", f"{seen['answer']} (p = {ps}; {looked})"
    yield "", seen["sentence"]
    if seen["sampled_columns"] and seen["verdict"] != "clusters":
        yield "", "clusters that few columns carry can be missed in a sample of columns"
    if seen["verdict"] == "nothing":
        return
    low, high = seen["plausible_range"]
    said = "suggested" if seen["verdict"] == "clusters" else "would be looked for all the same"
    said += f", {low} to {high} are plausible"
    if seen["sampled"]:
        said = "in this part of the table: select, which looks at all, may find another number"
    yield "clusters", f"{seen['n_clusters']} {said}"
