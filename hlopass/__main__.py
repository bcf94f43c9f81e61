"""The command line as a process: `hlopass` and `python -m hlopass`."""

from __future__ import annotations

import sys
from typing import NoReturn

from hlopass import guard


def main() -> NoReturn:
    """Runs the command line in a child that may crash."""
    sys.exit(guard.guarded(_run))


def _run() -> int:
    from hlopass import startup

    startup.prepare()
    from hlopass.cli import cli
    from hlopass.cli_support import run

    return run(cli)


if __name__ == "__main__":
    main()
