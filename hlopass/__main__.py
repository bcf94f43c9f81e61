"""`python -m hlopass`."""

from __future__ import annotations

from hlopass.cli import main

if __name__ == "__main__":
    main()
