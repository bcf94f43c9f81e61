"""What becomes of donated arrays in a call of a jitted function, in this very process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.jaxlib_compat import kept_leaves
from hlopass.proof import evidence
from hlopass.proof.holding import addresses, entering_once, holder
from hlopass.proof.observation import Observed
from hlopass.proof.verdict import judge_one
from hlopass.report import Argument, Evidence, ReportedDonation, Result
from hlopass.sources import bytes_of
from hlopass.values import Value

Places = tuple[int, ...] | None


@dataclass(frozen=True)
class Watched:
    """What a call returned, and each donated argument with its verdict and evidence."""

    results: Any
    donations: tuple[ReportedDonation, ...]


def watch(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Watched:
    """Calls a jitted function, and looks at what becomes of each array that it donates.

    `function`: what `jax.jit` returns. It runs in this process, on the arrays that are given, of
    which donated ones are gone after it. Where a donation is not used its reason is told: a view of
    numpy or dlpack holds the buffer, or the compiled program ties it to no result. Raises
    HlopassError where a buffer is given twice, and one of the two is donated.
    """
    import jax

    if not hasattr(function, "lower"):
        message = f"cannot watch {type(function).__name__}: legal is what jax.jit returns"
        raise HlopassError(Diagnostic("source-type", message))
    lowered = function.lower(*args, **kwargs)
    infos = jax.tree.flatten_with_path(
        lowered.args_info, is_leaf=lambda each: hasattr(each, "donated")
    )[0]
    leaves = jax.tree.leaves((args, kwargs))
    arrays = [leaf if isinstance(leaf, jax.Array) else object() for leaf in leaves]
    donated = [
        at for at, (_, info) in enumerate(infos) if info.donated and arrays[at] is leaves[at]
    ]
    values, numbers = _values(lowered, infos)
    entering_once(values, arrays, donated, "watch")
    before = {at: addresses(arrays[at]) for at in donated}
    compiled = lowered.compile()
    results = jax.block_until_ready(compiled(*args, **kwargs))
    table = evidence.alias_table(compiled.as_text().partition("\n")[0])
    found = jax.tree.flatten_with_path(results)[0]
    made = [(jax.tree_util.keystr(path), addresses(leaf)) for path, leaf in found]
    ties = {at: table.get(numbers.get(at, -1)) for at in donated}
    seen = [_observed(values[at], arrays[at], before[at], ties[at], made) for at in donated]
    return Watched(results, tuple(_unread(judge_one(each), numbers) for each in seen))


def _unread(donation: ReportedDonation, numbers: dict[int, int]) -> ReportedDonation:
    """A donation with its true reason where JAX leaves the argument out."""
    if donation.argument.index in numbers:
        return donation
    reason = "nothing reads it, and JAX leaves it out of the program"
    return structs.replace(donation, reason=reason)


def _values(lowered: Any, infos: Sequence[Any]) -> tuple[list[Value], dict[int, int]]:
    """The call's leaves as JAX names them, and which argument of the lowered program each is.

    JAX leaves out those that nothing reads, and puts arguments of its own before the others.
    """
    raw, label = bytes_of(lowered, None)
    arguments = formats.read(raw, label).arguments
    kept = kept_leaves(lowered, len(infos))
    first = len(arguments) - len(kept)
    numbers = {leaf: first + at for at, leaf in enumerate(kept)}
    values = []
    for at, (path, info) in enumerate(infos):
        if at in numbers:
            values.append(structs.replace(arguments[numbers[at]], index=at))
        else:
            size = info.dtype.itemsize
            for length in info.shape:
                size *= length
            type_ = f"{info.dtype}{list(info.shape)}"
            values.append(Value("argument", at, _keystr(path), type_, size, tuple(info.shape)))
    return values, numbers


def _keystr(path: Any) -> str:
    import jax

    return str(jax.tree_util.keystr(path))


def _observed(
    value: Value,
    array: Any,
    before: Places,
    tied: int | None,
    made: Sequence[tuple[str, Places]],
) -> Observed:
    """One donated argument, with what became of its buffers."""
    deleted, same, held, result = bool(array.is_deleted()), None, None, None
    if tied is not None:
        name, after = made[tied]
        result = Result(tied, name)
        if before is not None and after is not None:
            same = tuple(a == b for a, b in zip(before, after, strict=True))
        held = None if deleted else holder(before)
    facts = Evidence(tied is not None, deleted, same, held)
    argument = Argument(value.index, value.name, value.type, value.bytes)
    return Observed(argument, result, "donor" if result is None else "alias", tied, facts)
