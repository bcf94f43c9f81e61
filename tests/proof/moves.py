"""What is put on each of eight devices while a program is verified; as a process of its own.

`python moves.py MODULE [naive]`: prints the report's transfers, and beside them what jaxlib was
given to put on devices, as JSON. `naive`: each device is given whole tensors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from jaxlib import xla_client

from hlopass.proof import execute, shards
from hlopass.proof.client import client_of
from hlopass.proof.observation import Job


def main(module: str, *naive: str) -> None:
    seen = {"calls": 0, "bytes": 0, "unsharded": 0}
    really = xla_client.batched_device_put
    stage = ""

    def begin(name: str) -> None:
        nonlocal stage
        stage = name

    def counted(aval: Any, sharding: Any, blocks: list[Any], *rest: Any, **options: Any) -> Any:
        if stage == "running on one device":
            seen["unsharded"] += sum(block.nbytes for block in blocks)
        else:
            seen["calls"] += len(blocks)
            seen["bytes"] += sum(block.nbytes for block in blocks)
        return really(aval, sharding, blocks, *rest, **options)

    if naive:
        shards_of = shards.blocks

        def whole(shape: Any, tiles: Any, devices: int) -> Iterator[Any]:
            """A copy of all for every device, and then its block of it."""
            for block, holders in shards_of(shape, tiles, devices):
                yield tuple(slice(0, size) for size in shape), holders
                yield block, holders

        shards.blocks = whole
        shards.padded = lambda piece, shape: piece
    xla_client.batched_device_put = counted
    client = client_of("cpu", 8)
    data = Path(module).read_bytes()
    observation = execute.observe(Job(module), data, begin, client)
    assert observation.unsharded is not None and observation.unsharded.transfers is not None
    found = msgspec.to_builtins(observation.transfers)
    one = msgspec.to_builtins(observation.unsharded.transfers)
    print(json.dumps({"transfers": found, "unsharded": one, "seen": seen}))


main(*sys.argv[1:])
