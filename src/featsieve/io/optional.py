"""Libraries that only some parts need."""

import importlib
from typing import Any


def load_optional(module: str, purpose: str, *, extra: str = "data", instead: str = "") -> Any:
    """Return a module, or say which extra brings it, and what can be done ``instead``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}: python -m pip install 'featsieve[{extra}]' (or {library} "
            f"alone){f'; or {instead}' if instead else ''}."
        ) from error
