"""``python -m featsieve.demo``: the same as ``featsieve demo``."""

from featsieve.cli import main

main(["demo"])
