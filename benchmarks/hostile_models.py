"""Hostile files of models; see `hostile_cases`."""

import functools
import io
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from featsieve import JASFS, save_model
from featsieve.io.selection_model import SelectionModel
from hostile_cases import (
    MARK,
    MIB,
    Bomb,
    case,
    deflated_part,
    described,
    npy,
    raw,
    repeated,
    stored,
)

APPLY = ("apply", "FILE", "TABLE", "-o", "selected.csv")
NAMES = ["a", "b", "c", "d"]
HEADER, SCHEMA = "featsieve.json", "schema.json"


@functools.cache
def good() -> bytes:
    """Return a model of four columns, as it is saved."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    sieve = JASFS(2, n_features_to_select=2, random_state=np.random.RandomState(0)).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        save_model(SelectionModel.from_selector(sieve, NAMES), path)
        return path.read_bytes()


def of_skops(model: Any) -> bytes:
    """Return a model as skops itself saves it."""
    from skops.io import dumps  # imports much, which must not find the scripts of this folder

    return dumps(model)


def parts_of(content: bytes) -> dict[str, bytes]:
    """Return the parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(parts: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def attributes(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the description of the selector's attributes."""
    return schema["content"]["content"]["selector"]["content"]["content"]


def forged(change: Callable[[dict[str, Any], dict[str, bytes]], Any]) -> Callable[[Path], None]:
    """Return how to write a model with a changed description."""

    def build(path: Path) -> None:
        parts = parts_of(good())
        schema = json.loads(parts[SCHEMA])
        change(schema, parts)
        path.write_bytes(written({**parts, SCHEMA: json.dumps(schema).encode()}))

    return build


def array(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """Return how to replace a fitted array."""

    def change(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        parts["new.npy"] = value if isinstance(value, bytes) else stored(value)
        attributes(schema)[name]["file"] = "new.npy"

    return change


def number(name: str, text: str) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """Return how to replace a fitted number."""

    def change(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        attributes(schema)[name]["content"] = text

    return change


def place_of_random_state(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
    """Let the next random number lie far outside of the state."""
    state = attributes(schema)["random_state"]["content"]["content"]["state"]
    state["content"]["pos"]["content"] = "1000000"


def names(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
    """Name other columns as selected."""
    schema["content"]["content"]["selected"]["content"] = json.dumps(json.dumps(["a", "b", "c"]))


def not_a_model(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
    """Keep nothing but the selector's parameters."""
    inner = schema["content"]["content"]["selector"]["content"]
    schema.update({**inner, "protocol": schema["protocol"]})


FORGED: dict[str, tuple[Any, str]] = {
    "support_ of floats": (array("support_", np.ones(4)), "support_ of JASFS is not that"),
    "support_ too short": (array("support_", np.ones(3, bool)), "support_ of JASFS is not that"),
    "support_ of 10^15 entries": (
        array("support_", npy(described((10**15,), "|b1"))), "would unpack to more than",
    ),
    "support_ of pickled objects": (
        array("support_", stored(np.array([Bomb()] * 4))), "is not a model",
    ),
    "n_features_in_ of 9": (number("n_features_in_", "9"), "a fit to 9 features"),
    "n_features_in_ below 0": (number("n_features_in_", "-4"), "a fit to -4 features"),
    "a random state outside of itself": (place_of_random_state, "its random state stands at"),
    "other selected columns": (names, "not its selector's"),
    "a dictionary instead of a model": (not_a_model, "it is no fitted selector"),
}  # fmt: skip
for _what, (_change, _says) in FORGED.items():
    case("model", f"ours, with {_what}", "model.skops", _says, command=APPLY)(forged(_change))

raw("model", "a pickle under our name", "model.skops", pickle.dumps(Bomb()), "is not a model",
    command=APPLY)  # fmt: skip
raw("model", "empty", "model.skops", b"", "is not a model", command=APPLY)
case("model", "cut short", "model.skops", "is not a model", command=APPLY)(
    lambda path: path.write_bytes(good()[:-100])
)
case("model", "of skops, not of featsieve", "model.skops", "not written by featsieve",
     command=APPLY)(lambda path: path.write_bytes(of_skops(JASFS(2))))  # fmt: skip


@case("model", "a function inside", "model.skops", "holds .*which models .* are not made of",
      command=APPLY)  # fmt: skip
def _function(path: Path) -> None:
    parts = parts_of(of_skops(FunctionTransformer(open, kw_args={"file": MARK})))
    path.write_bytes(written({**parts, HEADER: parts_of(good())[HEADER]}))


@case("model", "an untrusted type", "model.skops", "holds subprocess.Popen",
      command=APPLY)  # fmt: skip
def _type(path: Path) -> None:
    def change(schema: dict[str, Any], parts: dict[str, bytes]) -> None:
        about = {"__module__": "subprocess", "__class__": "Popen", "__loader__": "ObjectNode"}
        attributes(schema)["init"] = {**about, "content": None}

    forged(change)(path)


@case("model", "a description without end", "model.skops", "is not a model", command=APPLY)
def _deep(path: Path) -> None:
    path.write_bytes(written({**parts_of(good()), SCHEMA: b"[" * 200_000}))


@case("model", "packed with bz2", "model.skops", "compressed in an unusual way", command=APPLY)
def _bz2(path: Path) -> None:
    path.write_bytes(written(parts_of(good()), zipfile.ZIP_BZIP2))


@case("model", "a header of 4 GiB", "model.skops", "would unpack to more than", command=APPLY)
def _bomb(path: Path) -> None:
    deflated_part(path, HEADER, repeated(bytes(8 * MIB), 500), 500 * 8 * MIB)


@case("model", "a zip bomb of 4 GiB", "model.skops", "would unpack to more than", command=APPLY)
def _zip_bomb(path: Path) -> None:
    body = repeated(bytes(8 * MIB), 500)
    deflated_part(path, "zeros", body, 500 * 8 * MIB, parts_of(good()))


@case("model", "a description of 210 MiB of empty lists", "model.skops",
      "would unpack to more than", command=APPLY, slow=True)  # fmt: skip
def _lists(path: Path) -> None:
    schema = b"[" + b"[]," * (70 * MIB) + b"[]]"
    path.write_bytes(written({**parts_of(good()), SCHEMA: schema}))


@case("model", "ours, with a support_ of 320 MB of zeros", "model.skops", "fitted to 4 features",
      command=APPLY, slow=True)  # fmt: skip
def _zeros(path: Path) -> None:
    forged(array("support_", np.zeros(320 * 10**6, dtype=bool)))(path)


@case("model", "commands to the terminal in its header", "model.skops", r"of featsieve '.x1b\[31m'",
      command=APPLY)  # fmt: skip
def _escape(path: Path) -> None:
    header = json.dumps({"format": 7, "featsieve": "\x1b[31m"})
    path.write_bytes(written({**parts_of(good()), HEADER: header.encode()}))
