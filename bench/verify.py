"""What `hlopass verify` costs beside compiling and running both programs bare, as a ratio.

`python bench/verify.py [ROUNDS]`: the transformer step with its donations, alternately by
`hlopass verify`, and by a script that does no more than start jax, read the text, take the
donations out of it, compile both, and run both on inputs that lie ready. Both are processes of
their own, timed from start to end; the ratio is that of the sums over all rounds, of wall-clock
time and of processor time. Exits with 1 where the first is over 1.25.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hlopass

STEP = Path(__file__).parent.parent / "testdata/frontends/transformer_train_step"
LIMIT = 1.25

BARE = r"""
import re
import sys
from pathlib import Path

import jax
import numpy as np
from jaxlib import xla_client
from jaxlib._jax import DeviceList

jax.config.update("jax_platforms", "cpu")
text = Path(sys.argv[1]).read_text()
plain = re.sub(r"tf.aliasing_output = \d+ : i32(, )?", "", text)
device = jax.devices("cpu")[0]
arrays = np.load(sys.argv[2])
for module in (plain, text):
    executable = device.client.compile_and_load(
        module.encode(), DeviceList((device,)), xla_client.CompileOptions()
    )
    inputs = [jax.device_put(arrays[name], device) for name in arrays.files]
    results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
    jax.block_until_ready(results)
"""


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        step, inputs, bare = (Path(folder) / name for name in ("step.mlir", "x.npz", "bare.py"))
        rewritten = hlopass.rewrite(f"{STEP}.mlir", donate=f"{STEP}.donate.json")
        step.write_text(rewritten.text())
        _write_inputs(rewritten, inputs)
        bare.write_text(BARE)
        command = str(Path(sys.executable).with_name("hlopass"))
        commands = {
            "verify": [command, "verify", str(step)],
            "bare": [sys.executable, str(bare), str(step), str(inputs)],
        }
        for each in commands.values():
            _timed(each)
        took = dict.fromkeys(commands, (0.0, 0.0))
        for _ in range(rounds):
            for name, each in commands.items():
                wall, cpu = _timed(each)
                took[name] = (took[name][0] + wall, took[name][1] + cpu)
                print(f"{name:8} {wall:6.2f} s, {cpu:6.2f} s of processor time")
    wall, cpu = (took["verify"][at] / took["bare"][at] for at in (0, 1))
    print(f"verify takes {wall:.2f} times as long as bare, {cpu:.2f} times the processor time")
    sys.exit(wall > LIMIT)


def _write_inputs(rewritten: hlopass.Rewritten, path: Path) -> None:
    import numpy as np

    from hlopass.proof import inputs

    made = inputs.make(rewritten.program.arguments, 0, "step")
    np.savez(path, *made)


def _timed(command: list[str]) -> tuple[float, float]:
    """Seconds that a command takes, and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
