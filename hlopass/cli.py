"""The command line: read, call the API, write, exit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from hlopass import __version__
from hlopass.cli_options import (
    AGAINST,
    DONATE,
    EMIT,
    ENTRY,
    EXISTING,
    IN,
    INPUTS,
    LIMITS,
    MESH,
    PLATFORM,
    REPORT,
    REQUIREMENTS,
    RUNS,
    SEED,
    SPEC,
    SPLIT,
    TOLERANCE,
)
from hlopass.cli_support import Command, show, stages, usage, write_data
from hlopass.emit import emit_of

if TYPE_CHECKING:
    from hlopass.api import Proof, Rewritten
    from hlopass.report import Report

WANTING = 3
"""Exit status: verified and found wanting."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="hlopass")
def cli() -> None:
    """Rewrites StableHLO programs so that their buffers are reused, and proves it.

    IN is StableHLO or MHLO as MLIR text, bytecode or portable artifact, or HLO as text or
    proto, gzipped or not; - is standard input. Exit status: 0
    done, 1 a diagnosed failure, 2 wrong usage, 3 verified and found wanting, 4 the compiler
    crashed or ran out of time.
    """


@cli.command(cls=Command)
@IN
@click.option("-o", "--output", default="-", metavar="OUT", help="File to write; - by default.")
@DONATE
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
@SPEC
@MESH
@EXISTING
@click.option("--pipeline", metavar="P", help="Other passes, as in strip-donation,alias-by-name.")
@click.option(
    "--verify",
    "mode",
    type=click.Choice(["compile", "run"]),
    metavar="[=compile|run]",
    help="Compile, or also run, the result before it is written.",
)
@click.option(
    "--paranoid",
    is_flag=True,
    help="Before writing, hold OUT against IN: nothing may differ but what was asked.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit 1 if anything would change, once the mesh is known.",
)
@EMIT
@SPLIT
@ENTRY
@click.option("--rename-entry", is_flag=True, help="Make the entry the public function main.")
@REPORT
@INPUTS
@RUNS
@SEED
@LIMITS
@TOLERANCE
@REQUIREMENTS
def rewrite(
    source: str,
    output: str,
    mode: Any,
    paranoid: bool,
    check: bool,
    emit: Any,
    split: bool,
    report: str | None,
    inputs: tuple[str, ...],
    runs: int,
    seed: int,
    tolerance: float | None,
    require: str,
    max_copies: int | None,
    max_temp_bytes: int | None,
    **options: Any,
) -> None:
    """Write a manifest's donations and a spec's shardings into a program."""
    from hlopass import api

    _one_from_stdin(source, options)
    _not_over_inputs(output, report, options)
    emit = emit and emit_of(emit)
    if inputs and mode is None:
        usage("--inputs is for --verify")
    if report is not None and report in ((source,) if check else (source, output)):
        usage("--report cannot be the same file as IN or OUT")
    if split:
        if mode is not None or report is not None:
            usage("--split-input-file cannot be given beside --verify or --report")
        from hlopass.cli_parts import rewrite_parts

        rewrite_parts(source, output, emit, check, paranoid, options)
        return
    with stages(options["pairing"] == "measured") as progress:
        rewritten = api.rewrite(source, progress=progress, allow_open=check, **options)
    show(rewritten.diagnostics)
    proof = None
    if mode is not None:
        from hlopass.proof.given import of_options

        with stages() as progress:
            proof = api.verify(
                rewritten,
                require=require,
                max_copies=max_copies,
                max_temp_bytes=max_temp_bytes,
                mode=mode,
                inputs=of_options(inputs),
                runs=runs,
                seed=seed,
                tolerance=tolerance,
                timeout=options["timeout"],
                progress=progress,
            )
    if report is not None:
        _write_report(rewritten.report if proof is None else proof.report, report)
    if not check and (proof is None or proof.ok):
        _write_module(rewritten, output, emit, paranoid)
    if proof is not None:
        _show_proof(proof, sys.stderr)
    still_open = any(found.code == "mesh-open" for found in rewritten.diagnostics)
    if check and rewritten.changed and not still_open:
        click.echo(f"{rewritten.program.source.label}: would change", err=True)
        sys.exit(1)


def _one_from_stdin(source: str, options: dict[str, Any]) -> None:
    if [source, options["donate"], options["shard"]].count("-") > 1:
        usage("only one of IN, --donate and --shard can be standard input")


def _not_over_inputs(output: str, report: str | None, options: dict[str, Any]) -> None:
    for name in ("donate", "shard"):
        for option, path in (("-o", output), ("--report", report)):
            if path not in (None, "-") and path == options[name]:
                usage(f"{option} cannot be the same file as --{name}")


def _write_report(report: Report, path: str | None) -> None:
    from hlopass.files import write_whole

    if path is not None:
        write_whole(path, report.to_json().encode())


def _write_module(rewritten: Rewritten, output: str, emit: Any, paranoid: bool) -> None:
    data = rewritten.data(emit, lambda found: show((found,)))
    if paranoid:
        rewritten.check_faithful(data)
    write_data(data, output)


@cli.command(cls=Command)
@IN
@EMIT
@SPLIT
@click.option("-o", "--output", default="-", metavar="OUT", help="File to write; - by default.")
@LIMITS
def convert(source: str, emit: Any, split: bool, output: str, timeout: float) -> None:
    """Write a program in another format, otherwise as it is."""
    from hlopass import api

    if emit is None:
        usage("name the format to write: --emit FORMAT")
    emit = emit_of(emit)

    def work(part: Any, label: str | None = None) -> bytes:
        return api.convert(part, emit, label=label, warn=lambda found: show((found,)))

    if split:
        from hlopass.cli_parts import write_parts

        write_parts(source, output, emit, work)
    else:
        write_data(work(source), output)


@cli.command(cls=Command)
@IN
@REQUIREMENTS
@click.option("--compile-only", is_flag=True, help="Compile, but do not run.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as JSON instead of a table."
)
@ENTRY
@REPORT
@INPUTS
@RUNS
@SEED
@LIMITS
@click.option(
    "--devices",
    type=click.IntRange(min=1),
    metavar="N",
    help="Devices to verify on; as many as IN is for by default, 1 verifies it unsplit.",
)
@PLATFORM
@TOLERANCE
@AGAINST
def verify(
    source: str,
    compile_only: bool,
    as_json: bool,
    report: str | None,
    inputs: tuple[str, ...],
    **options: Any,
) -> None:
    """Compile and run a program, and tell of each donation whether it is reused."""
    from hlopass import api
    from hlopass.proof.given import of_options

    if source == options["against"] == "-":
        usage("only one of IN and --against can be standard input")
    mode: Any = "compile" if compile_only else "run"
    options["inputs"] = of_options(inputs)
    with stages() as progress:
        proof = api.verify(source, mode=mode, progress=progress, **options)
    _write_report(proof.report, report)
    if as_json:
        click.echo(proof.report.to_json(), nl=False)
    _show_proof(proof, None if as_json else sys.stdout)


def _show_proof(proof: Proof, table: TextIO | None) -> None:
    """Prints a proof; exits with WANTING where it is not ok."""
    from hlopass.table import print_proof

    if table is not None:
        print_proof(proof.report, table)
        table.flush()
    show(proof.diagnostics)
    if not proof.ok:
        sys.exit(WANTING)


@cli.command(cls=Command)
@IN
@DONATE
@SPEC
@MESH
@EXISTING
@click.option("--propagate", is_flag=True, help="Run Shardy's propagation: what is open becomes.")
@click.option(
    "--picture", multiple=True, metavar="NAME", help="Draw a tensor over its devices; repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@ENTRY
@LIMITS
def inspect(source: str, as_json: bool, **options: Any) -> None:
    """Show arguments, results, donation, what could still be donated, and sharding.

    With a manifest or a spec, donations and shardings are those that rewrite would write;
    nothing is written.
    """
    from hlopass import api
    from hlopass.report import restored
    from hlopass.table import print_inspection

    _one_from_stdin(source, options)
    with stages(options["propagate"]) as progress:
        found = api.inspect(source, progress=progress, **options)
    show(restored(each) for each in found.diagnostics)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        print_inspection(found, sys.stdout)


@cli.command(cls=Command)
@IN
@click.option("-o", "--output", default="-", metavar="OUT", help="File to write; - by default.")
@ENTRY
@LIMITS
def suggest(source: str, output: str, entry: str | None, timeout: float) -> None:
    """Write a donation manifest to start from, as YAML with reasons."""
    from hlopass import api
    from hlopass.files import write_whole

    if output.endswith((".json", ".toml")):
        usage("a suggestion is YAML, for its comments: name OUT .yaml")
    write_whole(output, api.suggest(source, entry=entry).encode())


@cli.command(cls=Command)
@PLATFORM
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@LIMITS
def probe(platform: str, as_json: bool, timeout: float) -> None:
    """Find out what a platform does with donations, with small programs."""
    from hlopass import api
    from hlopass.table import print_probe

    with stages() as progress:
        found = api.probe(platform, timeout=timeout, progress=progress)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        print_probe(found, sys.stdout)
    if not found.ok:
        sys.exit(WANTING)


@cli.command(cls=Command)
@click.argument("name", required=False)
def passes(name: str | None) -> None:
    """List the passes, or document one."""
    from hlopass import pass_docs

    click.echo(pass_docs.listing() if name is None else pass_docs.page(name))


@cli.command(cls=Command)
@click.argument("file", type=click.Choice(["manifest", "spec", "report"]))
def schema(file: str) -> None:
    """Print the JSON Schema of a manifest, of a sharding spec, or of a report."""
    import json

    from hlopass import manifest, shardspec
    from hlopass import report as reports

    schemas = {"manifest": manifest.schema, "spec": shardspec.schema, "report": reports.schema}
    found = schemas[file]()
    click.echo(json.dumps(found, indent=2))
