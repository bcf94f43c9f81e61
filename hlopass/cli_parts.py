"""The commands that take each module of a text by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from hlopass import api
from hlopass.cli_support import show, usage, write_data
from hlopass.splitting import each_part


def rewrite_parts(
    source: str, output: str, emit: Any, check: bool, paranoid: bool, options: dict[str, Any]
) -> None:
    """Rewrites each module of a text; exits with 1 where one failed, the others being done."""
    changed = False

    def work(part: bytes, label: str) -> bytes:
        nonlocal changed
        rewritten = api.rewrite(part, label=label, allow_open=check, **options)
        show(rewritten.diagnostics)
        changed = changed or rewritten.changed
        data = rewritten.data(emit, lambda found: show((found,)))
        if paranoid:
            rewritten.check_faithful(data)
        return data

    write_parts(source, output, emit, work, check)
    if check and changed:
        click.echo(f"{source}: would change", err=True)
        sys.exit(1)


def write_parts(
    source: str, output: str, emit: Any, work: Callable[[bytes, str], bytes], check: bool = False
) -> None:
    """Works on each module of a text and writes the whole; exits with 1 where one failed."""
    if emit is not None and (emit.format not in ("text", "hlo") or emit.gzip):
        usage("several modules in one file are text: --emit text or hlo")
    done = each_part(source, work, lambda found: show((found,)), repack=emit is None)
    if not check:
        write_data(done.data, output)
    if done.failed:
        click.echo(f"{source}: {done.failed} of {done.modules} modules failed", err=True)
        sys.exit(1)
