"""``python -m featsieve``: the command ``featsieve``."""

from featsieve.cli import main

if __name__ == "__main__":
    main()
