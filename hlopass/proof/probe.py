"""What a platform does with donations, found out with small programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hlopass.diagnostics import HlopassError
from hlopass.jaxlib_compat import jaxlib_version
from hlopass.proof import execute
from hlopass.proof.client import client_of, compile_module, run_sharded
from hlopass.proof.observation import Job, Observation, Observed
from hlopass.proof.placing import on_device
from hlopass.report import Evidence, Probe, Probed

Answer = tuple[Literal["yes", "no", "unknown"], str | None]

_STEP = """
func.func @main(%w: tensor<64x64xf32> {ATTRIBUTE}) -> tensor<64x64xf32> {
  %0 = stablehlo.add %w, %w : tensor<64x64xf32>
  func.return %0 : tensor<64x64xf32>
}
"""
_ALIAS = _STEP.replace("ATTRIBUTE", "tf.aliasing_output = 0 : i32")
_DONOR = _STEP.replace("ATTRIBUTE", "jax.buffer_donor = true")

_SWAP = """
func.func @main(%a: tensor<64x64xf32> {tf.aliasing_output = FIRST : i32},
                %b: tensor<64x64xf32> {tf.aliasing_output = SECOND : i32})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.add %b, %b : tensor<64x64xf32>
  %1 = stablehlo.multiply %a, %a : tensor<64x64xf32>
  func.return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}
"""
_BY_FLOW = _SWAP.replace("FIRST", "1").replace("SECOND", "0")
_CROSSED = _SWAP.replace("FIRST", "0").replace("SECOND", "1")

_SHARDED = """
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>,
                                         tf.aliasing_output = 0 : i32})
      -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.add %w, %w : tensor<64x64xf32>
    func.return %0 : tensor<64x64xf32>
  }
}
"""


def probe(job: Job, stage: Callable[[str], None]) -> Probe:
    """Asks the job's platform. Raises HlopassError where it is not there."""
    stage("starting the runtime")
    client = client_of(job.platform, 2 if job.platform == "cpu" else 1)
    devices = client.local_devices()

    def observed(text: str, count: int = 1) -> Observation:
        each = Job("probe", platform=job.platform, devices=count)
        return execute.observe(each, text.encode(), lambda _: None, client)

    def sharded() -> Answer:
        if len(devices) < 2:
            return "unknown", "it has one device"
        return _reused(_only(observed(_SHARDED, 2)))

    alias: Callable[[], Evidence] = lambda: _only(observed(_ALIAS)).evidence  # noqa: E731
    questions: dict[str, Callable[[], Answer]] = {
        "alias accepted": lambda: _known(alias().aliased),
        "argument deleted": lambda: _known(alias().deleted),
        "buffer reused": lambda: _reused(_only(observed(_ALIAS))),
        "donor paired": lambda: _reused(_only(observed(_DONOR))),
        "reused without a copy": lambda: _copies(observed(_BY_FLOW), observed(_CROSSED)),
        "results equal": lambda: _known(observed(_BY_FLOW).results_equal),
        "reused on every device": sharded,
        "double donation refused": lambda: _twice(client, devices[0]),
    }
    found = []
    for question, ask in questions.items():
        stage(f"probing: {question}")
        try:
            answer, detail = ask()
        except HlopassError as error:
            answer, detail = "no", error.diagnostics[0].message
        found.append(Probed(question, answer, detail))
    return Probe(
        ok=all(each.answer != "no" for each in found),
        platform=job.platform,
        device=str(devices[0].device_kind),
        jaxlib=jaxlib_version(),
        devices=len(devices),
        answers=tuple(found),
    )


def _only(observation: Observation) -> Observed:
    (found,) = observation.donations
    return found


def _known(fact: bool | None) -> Answer:
    return "unknown" if fact is None else "yes" if fact else "no", None


def _reused(donation: Observed) -> Answer:
    """Whether the result lies where the argument lay."""
    facts = donation.evidence
    if not facts.aliased:
        return "no", "the compiled program does not tie it to a result"
    if not facts.deleted:
        return "no", "the argument's buffer is still there"
    if facts.same_buffer is None:
        return "unknown", "it does not tell where buffers lie"
    on, of = sum(facts.same_buffer), len(facts.same_buffer)
    detail = None if of == 1 else f"on {on} of {of} devices"
    return "yes" if all(facts.same_buffer) else "no", detail


def _copies(good: Observation, crossed: Observation) -> Answer:
    """Whether a pairing by data flow adds no copy; and what one across it adds."""
    added = [each.copies.with_ - each.copies.without for each in (good, crossed)]
    detail = f"{added[0]} copies added, and {added[1]} where arguments are paired crosswise"
    return "yes" if added[0] <= 0 else "no", detail


def _twice(client: Any, device: Any) -> Answer:
    """Whether one buffer cannot be given away by two arguments."""
    executable = compile_module(client, _BY_FLOW.encode(), "probe")
    buffer = on_device(np.ones((64, 64), np.float32), device)
    try:
        run_sharded(executable, [buffer, buffer], "probe")
    except HlopassError:
        return "yes", None
    return "no", "the program ran, on a buffer that it was free to overwrite twice"
