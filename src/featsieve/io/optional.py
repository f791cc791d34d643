"""Libraries that only some parts need, and those that a library would import for nothing."""

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def hidden(*libraries: str) -> Iterator[None]:
    """Let imports of this thread find none of some libraries, unless they are there already."""
    if FINDER not in sys.meta_path:
        # It stays: a thread that goes through the finders would miss one if another were removed.
        sys.meta_path.insert(0, FINDER)
    before = FINDER.hidden
    FINDER.hidden = libraries
    try:
        yield
    finally:
        FINDER.hidden = before


class _FindsNone(threading.local):
    """A finder of modules that ends the search for some libraries, others in every thread."""

    hidden: tuple[str, ...] = ()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise for a library that is hidden; leave others to the next finder."""
        if name in self.hidden:
            raise ModuleNotFoundError(f"{name} is hidden for a moment", name=name)


FINDER = _FindsNone()
