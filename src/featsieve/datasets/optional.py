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
    finder = _FindsNone(libraries)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _FindsNone:
    """A finder of modules that ends the search for some libraries, in the thread that made it."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        self.libraries, self.thread = libraries, threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise for a library that is hidden; leave others to the next finder."""
        if name in self.libraries and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"{name} is hidden for a moment", name=name)
