"""Ask mypy which types a user of the installed package sees; fail where one is missing.

    python tools/public_types.py

Run by an interpreter that has featsieve and mypy, outside the folder of the sources, so that what
is checked is what was installed. Three questions: does a strict checker accept the program below;
has every public function a type for each parameter and its result; has every documented attribute
of every public class a type of its own?
"""

import inspect
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import featsieve

CONSUMER = '''\
"""What a careful user writes; `assert_type` fails where the library says something else."""

from typing import assert_type

import numpy as np

from featsieve import JASFS, AutoSelector, MaxVariance, StabilitySelection, load_model
from featsieve import save_model, structure_test, suggest_n_clusters
from featsieve.datasets import make_planted
from featsieve.tuning import StructureTest

made = make_planted(60, 30, n_informative=8, n_clusters=3, random_state=0)
assert_type(made.X, np.ndarray)
model = JASFS(3, n_features_to_select=8, random_state=0)
assert_type(model.fit(made.X), JASFS)
assert_type(model.support_, np.ndarray)
assert_type(model.ranking_, np.ndarray)
assert_type(model.labels_, np.ndarray)
assert_type(model.n_features_selected_, int)
assert_type(model.n_features_in_, int)
assert_type(model.get_support(), np.ndarray)
assert_type(model.get_feature_names_out(), np.ndarray)
assert_type(model.predict(made.X), np.ndarray)
assert_type(AutoSelector(MaxVariance(5)).fit(made.X), AutoSelector)
assert_type(StabilitySelection(MaxVariance(5)).fit(made.X).support_, np.ndarray)
assert_type(structure_test(made.X), StructureTest)
assert_type(structure_test(made.X).p_permuted, float)
assert_type(suggest_n_clusters(made.X).n_clusters, int)
save_model(model, "model.skops")
load_model("model.skops")
'''

MISTAKES = {  # what a checker must find, and how mypy names it
    "JASFS(3, n_feature_to_select=8)": "call-arg",
    "JASFS(3).fit()": "call-arg",
    "JASFS(3).support_.shape.colour": "attr-defined",
    "structure_test(made.X).score": "attr-defined",
    "from featsieve import JASF": "attr-defined",
}
# Whatever the user put in comes out: there is no type to name.
FREE = {"selector_"}


def public_classes() -> dict[str, type]:
    """Return the classes among the public names."""
    found = {name: getattr(featsieve, name) for name in featsieve.__all__}
    return {name: value for name, value in found.items() if isinstance(value, type)}


def documented_attributes(cls: type) -> list[str]:
    """Return the names in the section Attributes of a class's docstring."""
    doc = inspect.cleandoc(cls.__doc__ or "")
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", doc, re.M | re.S)
    lines = section.group(1) if section else ""
    heads = re.findall(r"^(\w[\w, ]*?) : ", lines, re.MULTILINE)
    return [name for head in heads for name in re.split(r",\s*", head)]


def without_types() -> list[str]:
    """Return the public functions and methods with a parameter or a result without a type."""
    found = []
    for name in featsieve.__all__:
        value = getattr(featsieve, name)
        if isinstance(value, type):
            members = inspect.getmembers(value, inspect.isfunction)
            functions = {
                f"{name}.{member}": function
                for member, function in members
                if function.__module__.startswith("featsieve")
                and (member == "__init__" or not member.startswith("_"))
            }
        else:
            functions = {name: value} if callable(value) else {}
        for title, function in functions.items():
            signature = inspect.signature(function)
            nameless = [
                p.name
                for p in signature.parameters.values()
                if p.annotation is p.empty and p.name != "self"
            ]
            result = signature.return_annotation is signature.empty
            if nameless or (result and not title.endswith("__init__")):
                found.append(f"{title}: {', '.join(nameless) or 'result'}")
    return found


def run_mypy(program: str) -> list[str]:
    """Return what a strict mypy says about a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "consumer.py"
        path.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", path.name],
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if done.returncode > 1:
        sys.exit(done.stdout + done.stderr)
    return [line for line in done.stdout.splitlines() if line.startswith(path.name)]


def main() -> int:
    """Print what is wrong; return the number of faults."""
    questions = [
        (name, attribute)
        for name, cls in public_classes().items()
        for attribute in documented_attributes(cls)
    ]
    n_consumer = CONSUMER.count("\n")
    asked = [f"reveal_type(featsieve.{name}().{attribute})" for name, attribute in questions]
    program = "\n".join([*CONSUMER.splitlines(), *MISTAKES, "import featsieve", *asked, ""])
    first = n_consumer + len(MISTAKES) + 2  # the line of the first question
    faults, caught, known = without_types(), set(), 0
    for line in run_mypy(program):
        number, kind, text = re.match(r"consumer\.py:(\d+): (\w+): (.*)", line).groups()  # type: ignore[union-attr]
        at = int(number)
        if at <= n_consumer:
            faults.append(f"consumer, line {at}: {text}")
        elif at < first:
            caught.add((at - n_consumer - 1, text.rpartition("[")[2].rstrip("]")))
        elif kind == "note":
            unknown = text == 'Revealed type is "Any"' and questions[at - first][1] not in FREE
            known += not unknown
            if unknown:
                faults.append("{}.{} has no type".format(*questions[at - first]))
    for place, (mistake, code) in enumerate(MISTAKES.items()):
        if (place, code) not in caught:
            faults.append(f"a checker does not see the mistake in: {mistake}")
    print(f"{known} of {len(questions)} attributes of {len(public_classes())} classes are typed")
    print("\n".join(faults) or "no faults")
    return len(faults)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
