"""What the commands share: errors to exit statuses, diagnostics, progress, the entry point."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import click

from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError, UsageError, render
from hlopass.guard import out_of_memory, time_limit


class Command(click.Command):
    """A command whose HlopassError becomes diagnostics on stderr and an exit status."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = [_verify_with_mode(arg) for arg in args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with time_limit(ctx.params.get("timeout")):
                return super().invoke(ctx)
        except HlopassError as error:
            show(error.diagnostics)
            ctx.exit(error.exit_status)


def _verify_with_mode(arg: str) -> str:
    """A bare `--verify` means `--verify=run`, whatever word comes next."""
    return "--verify=run" if arg == "--verify" else arg


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Prints diagnostics on stderr, each once."""
    for text in dict.fromkeys(render(diagnostic) for diagnostic in diagnostics):
        click.echo(text, err=True)


def usage(message: str) -> NoReturn:
    raise UsageError(Diagnostic("usage", message))


def write_data(data: bytes, output: str) -> None:
    """Writes a module, but no bytes to a terminal."""
    from hlopass.files import STANDARD, write_whole

    if output == STANDARD and sys.stdout.isatty() and (b"\0" in data or data[:1] == b"\x1f"):
        usage("bytes would garble the terminal: name a file with -o, or use --emit text")
    write_whole(output, data)


@contextlib.contextmanager
def stages(long: bool = True) -> Iterator[Callable[[str], None] | None]:
    """Shows the stage of long work on stderr, with the time it takes, on a terminal only."""
    if not long or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting", total=None)
        yield lambda stage: shown.update(task, description=stage)


def run(group: click.Group) -> int:
    """Runs the command line; returns the exit status instead of raising SystemExit."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        result = group.main(prog_name="hlopass", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except BrokenPipeError:
        return 1
    except MemoryError:
        show((out_of_memory("working on the module"),))
        return CompilerDied.exit_status
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror or error}"
        show((Diagnostic("file-write", message),))
        return 1
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        note = "this is a bug of hlopass; python -X dev -m hlopass ... shows where"
        if sys.flags.dev_mode:
            raise
        show((Diagnostic("internal", message, notes=(note,)),))
        return 1
