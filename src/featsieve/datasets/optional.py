"""Libraries that only some readers need."""

import importlib
from typing import Any


def load_optional(module: str, purpose: str, *, extra: str = "data") -> Any:
    """Return a module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}: pip install 'featsieve[{extra}]' (or {library} alone)."
        ) from error
