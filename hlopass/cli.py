"""The command line: read, call the API, write, exit."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hlopass import __version__, guard
from hlopass.diagnostics import Diagnostic, HlopassError, UsageError, render

if TYPE_CHECKING:
    from hlopass.api import Proof, Rewritten

WANTING = 3
"""Exit status: verified and found wanting."""


class Command(click.Command):
    """A command whose HlopassError becomes diagnostics on stderr and an exit status."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = [_verify_with_mode(arg, args[at + 1 :]) for at, arg in enumerate(args)]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except HlopassError as error:
            show(error.diagnostics)
            ctx.exit(error.exit_status)


def _verify_with_mode(arg: str, _: list[str]) -> str:
    """A bare `--verify` means `--verify=run`, whatever word comes next."""
    return "--verify=run" if arg == "--verify" else arg


def show(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Prints diagnostics on stderr, each once."""
    for text in dict.fromkeys(render(diagnostic) for diagnostic in diagnostics):
        click.echo(text, err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="hlopass")
def cli() -> None:
    """Rewrites StableHLO programs so that their buffers are reused, and proves it.

    IN is StableHLO or MHLO as MLIR text or bytecode; - is standard input. Exit status: 0
    done, 1 a diagnosed failure, 2 wrong usage, 3 verified and found wanting, 4 the compiler
    crashed or ran out of time.
    """


_IN = click.argument("source", metavar="IN")
_ENTRY = click.option("--entry", metavar="NAME", help="The function to work on; main by default.")
_REPORT = click.option("--report", metavar="R.json", help="Write a report as JSON.")
_SEED = click.option("--seed", default=0, show_default=True, help="Seed of the made-up inputs.")
_TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for compiling and running.",
)


@cli.command(cls=Command)
@_IN
@click.option("-o", "--output", default="-", metavar="OUT", help="File to write; - by default.")
@click.option("--donate", metavar="M", help="Donation manifest: JSON, or TOML or YAML by suffix.")
@click.option(
    "--automatic",
    type=click.Choice(["off", "frontend", "repair", "names", "dataflow"]),
    help="What becomes of donations that the program carries; overrides the manifest.",
)
@click.option(
    "--pairing",
    type=click.Choice(["flow", "order", "measured"]),
    default="flow",
    show_default=True,
    help="How results are chosen: by data flow, in JAX's order, or measured in the compiler.",
)
@click.option("--pipeline", metavar="P", help="Other passes, as in strip-donation,alias-by-name.")
@click.option(
    "--verify",
    "mode",
    type=click.Choice(["compile", "run"]),
    metavar="[=compile|run]",
    help="Compile, or also run, the result before it is written.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
@click.option(
    "--emit", type=click.Choice(["text", "bytecode"]), help="Format; that of IN by default."
)
@_ENTRY
@click.option("--rename-entry", is_flag=True, help="Make the entry the public function main.")
@_REPORT
@_SEED
@_TIMEOUT
def rewrite(
    source: str,
    output: str,
    donate: str | None,
    automatic: Any,
    pairing: Any,
    pipeline: str | None,
    mode: Any,
    check: bool,
    emit: Any,
    entry: str | None,
    rename_entry: bool,
    report: str | None,
    seed: int,
    timeout: float,
) -> None:
    """Write a manifest's donations into a program."""
    from hlopass import api

    if source == "-" and donate == "-":
        _usage("IN and --donate cannot both be standard input")
    if output == "-" and report == "-" and not check:
        _usage("OUT and --report cannot both be standard output")
    with _stages(pairing == "measured") as progress:
        rewritten = api.rewrite(
            source,
            donate=donate,
            automatic=automatic,
            pairing=pairing,
            pipeline=pipeline,
            entry=entry,
            rename_entry=rename_entry,
            timeout=timeout,
            progress=progress,
        )
    show(rewritten.diagnostics)
    proof = None
    if mode is not None:
        with _stages() as progress:
            proof = api.verify(rewritten, mode=mode, seed=seed, timeout=timeout, progress=progress)
    if check:
        _finish_check(rewritten, source)
    elif proof is None or proof.ok:
        _write_module(rewritten, output, emit)
    if report is not None:
        from hlopass.files import write_whole

        write_whole(
            report, (rewritten.report if proof is None else proof.report).to_json().encode()
        )
    if proof is not None:
        _show_proof(proof, sys.stderr)
    if check and rewritten.changed:
        sys.exit(1)


def _finish_check(rewritten: Rewritten, source: str) -> None:
    if rewritten.changed:
        click.echo(f"{rewritten.program.source.label}: would change", err=True)


def _write_module(rewritten: Rewritten, output: str, emit: Any) -> None:
    from hlopass.files import STANDARD, write_whole

    data = rewritten.data(emit)
    if output == STANDARD and sys.stdout.isatty() and data.startswith(b"ML\xefR"):
        _usage("bytecode would garble the terminal: name a file with -o, or use --emit text")
    write_whole(output, data)


@cli.command(cls=Command)
@_IN
@click.option(
    "--require",
    default="all",
    show_default=True,
    metavar="all|none|N%",
    help="Share of the donated bytes that must be reused.",
)
@click.option(
    "--max-copies", type=click.IntRange(min=0), metavar="N", help="Copies that donation may add."
)
@click.option(
    "--max-temp-bytes", type=click.IntRange(min=0), metavar="N", help="Temporary memory allowed."
)
@click.option("--compile-only", is_flag=True, help="Compile, but do not run.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as JSON instead of a table."
)
@_ENTRY
@_REPORT
@_SEED
@_TIMEOUT
def verify(
    source: str,
    require: str,
    max_copies: int | None,
    max_temp_bytes: int | None,
    compile_only: bool,
    as_json: bool,
    entry: str | None,
    report: str | None,
    seed: int,
    timeout: float,
) -> None:
    """Compile and run a program, and tell of each donation whether it is reused."""
    from hlopass import api

    with _stages() as progress:
        proof = api.verify(
            source,
            require=require,
            max_copies=max_copies,
            max_temp_bytes=max_temp_bytes,
            mode="compile" if compile_only else "run",
            entry=entry,
            seed=seed,
            timeout=timeout,
            progress=progress,
        )
    if report is not None:
        from hlopass.files import write_whole

        write_whole(report, proof.report.to_json().encode())
    if as_json:
        click.echo(proof.report.to_json(), nl=False)
    _show_proof(proof, None if as_json else sys.stdout)


def _show_proof(proof: Proof, table: Any) -> None:
    """Prints a proof; exits with WANTING where it is not ok."""
    from hlopass.table import print_proof

    if table is not None:
        print_proof(proof.report, table)
        table.flush()
    show(proof.diagnostics)
    if not proof.ok:
        sys.exit(WANTING)


@cli.command(cls=Command)
@_IN
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@_ENTRY
def inspect(source: str, as_json: bool, entry: str | None) -> None:
    """Show arguments, results, donation, bytes, and what could still be donated."""
    from hlopass import api
    from hlopass.table import print_inspection

    found = api.inspect(source, entry=entry)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        print_inspection(found, sys.stdout)


@cli.command(cls=Command)
@_IN
@click.option("-o", "--output", default="-", metavar="OUT", help="File to write; - by default.")
@_ENTRY
def suggest(source: str, output: str, entry: str | None) -> None:
    """Write a donation manifest to start from, as YAML with reasons."""
    from hlopass import api
    from hlopass.files import write_whole

    write_whole(output, api.suggest(source, entry=entry).encode())


@cli.command(cls=Command)
@click.argument("name", required=False)
def passes(name: str | None) -> None:
    """List the passes, or document one."""
    from hlopass import pass_docs

    click.echo(pass_docs.listing() if name is None else pass_docs.page(name))


@cli.command(cls=Command)
@click.argument("file", type=click.Choice(["manifest"]))
def schema(file: str) -> None:
    """Print the JSON Schema of a file that people write."""
    import json

    from hlopass import manifest

    click.echo(json.dumps(manifest.schema(), indent=2))


def _usage(message: str) -> NoReturn:
    raise UsageError(Diagnostic("usage", message))


@contextlib.contextmanager
def _stages(long: bool = True) -> Iterator[Callable[[str], None] | None]:
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


def main() -> NoReturn:
    """The entry point: runs the command line in a child that may crash."""
    sys.exit(guard.guarded(_run))


def _run() -> int:
    """Runs the command line; returns the exit status instead of raising SystemExit."""
    try:
        result = cli.main(prog_name="hlopass", standalone_mode=False)
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
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        note = "this is a bug of hlopass; python -X dev -m hlopass ... shows where"
        if sys.flags.dev_mode:
            raise
        show((Diagnostic("internal", message, notes=(note,)),))
        return 1
