"""Proofs on several devices: what was asked is obtained, reused everywhere, and right."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from test_verify_api import hlopass_cli

import hlopass
from hlopass.api import Proof
from hlopass.diagnostics import HlopassError

STEP = Path("testdata/frontends/transformer_train_step").resolve()

HEAD = """
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
"""

BODY = """
  func.func public @main(%x: tensor<8x4xf32> ARG {tf.aliasing_output = 0 : i32},
                         %w: tensor<4x6xf32> WEIGHT)
      -> (tensor<8x4xf32> RESULT, tensor<8x6xf32> OTHER) {
    %0 = stablehlo.add %x, %x : tensor<8x4xf32>
    %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0, %1 : tensor<8x4xf32>, tensor<8x6xf32>
  }
}
"""


def program(argument: str, weight: str = "", result: str | None = None, other: str = "") -> str:
    """A product, and a donated argument doubled; shardings as Shardy writes their dimensions."""
    text = HEAD + BODY.replace("ARG {", f"{{{_sharding(argument)}, ")
    text = text.replace("WEIGHT", _braced(weight)).replace("OTHER", _braced(other))
    return text.replace("RESULT", _braced(argument if result is None else result))


def _sharding(dims: str) -> str:
    if dims.startswith("{"):
        return f"sdy.sharding = #sdy.sharding<@mesh, [{dims}]>"
    return f'mhlo.sharding = "{dims.removeprefix("gspmd ")}"'


def _braced(dims: str) -> str:
    return f"{{{_sharding(dims)}}}" if dims else ""


def obtained(proof: Proof) -> list[str]:
    return [each.obtained for each in proof.report.shardings]


def codes(proof: Proof) -> list[str]:
    return [each.code for each in proof.report.diagnostics]


@pytest.mark.parametrize(
    ("mesh", "dialect"),
    [
        ({"data": 4, "model": 2}, "shardy"),
        ({"data": 4, "model": 2}, "gspmd"),
        ({"data": 2, "model": 2}, "shardy"),
        ({"data": 8, "model": 1}, "shardy"),
    ],
)
def test_a_train_step_over_a_mesh(mesh: dict[str, int], dialect: str) -> None:
    spec = yaml.safe_load(Path(f"{STEP}.shard.yaml").read_text()) | {"dialect": dialect}
    rewritten = hlopass.rewrite(f"{STEP}.mlir", donate=f"{STEP}.donate.json", shard=spec, mesh=mesh)
    proof = hlopass.verify(rewritten)
    report = proof.report
    devices = mesh["data"] * mesh["model"]
    assert (proof.ok, report.devices) == (True, devices)
    asked = [each for each in report.shardings if each.asked is not None]
    assert len(asked) == 2 * 88 + 2
    assert all(each.as_asked for each in asked)
    assert len(report.donations) == 88
    for donation in report.donations:
        assert donation.verdict == "reused"
        assert donation.evidence.same_buffer == (True,) * devices
    assert report.unsharded is not None
    assert report.unsharded.equal is True
    assert 0 < (report.unsharded.exact or 0) < 89
    assert [each.kind for each in report.collectives] == ["all-reduce"]
    assert report.footprint is not None
    assert report.footprint.with_ < report.footprint.without


def test_open_dimensions_are_split_further() -> None:
    proof = hlopass.verify(program('{"data"}, {}', '{}, {"model"}', None, "{?}, {?}"))
    assert obtained(proof) == ["[data, null]", "[null, model]", "[data, null]", "[data, model]"]
    assert [each.asked for each in proof.report.shardings][-1] == "[?, ?]"
    assert all(each.as_asked for each in proof.report.shardings)
    assert proof.ok


def test_what_says_nothing_is_left_to_the_partitioner() -> None:
    proof = hlopass.verify(program('{"data"}, {"model"}'))
    assert [each.asked for each in proof.report.shardings] == [
        "[data, model]", None, "[data, model]", None,
    ]  # fmt: skip
    assert proof.ok
    assert proof.report.collectives, "the contracted dimension is split"


def test_tilings_of_gspmd() -> None:
    rows = "gspmd {devices=[4,1]<=[4]}"
    proof = hlopass.verify(program(rows, "gspmd {devices=[1,2,2]<=[4] last_tile_dim_replicate}"))
    assert obtained(proof)[:2] == [
        "[[data, model], null]", "[null, data]",
    ]  # fmt: skip
    assert proof.ok


def test_uneven_blocks_are_padded_or_fewer_and_told() -> None:
    weight = hlopass.verify(program("gspmd {replicated}", "gspmd {devices=[1,4]<=[4]}"))
    assert "shard-uneven" in codes(weight)
    assert weight.ok
    shardy = hlopass.verify(program("{}, {}", '{}, {"data", "model"}'))
    told = shardy.report.shardings[1]
    assert (told.asked, told.obtained) == ("[null, [data, model]]", "[null, data]")
    assert (told.as_asked, told.uneven) == (False, True)
    assert "shard-uneven" in codes(shardy)
    assert shardy.ok


def test_a_program_that_is_about_one_device_of_many_is_not_compared() -> None:
    body = """
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
      -> tensor<8xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>]
        out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data", "model"} (%y: tensor<4xf32>) {
      %1 = stablehlo.add %y, %y : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""
    proof = hlopass.verify(HEAD + body)
    assert proof.ok
    assert "not-compared" in codes(proof)
    with pytest.raises(HlopassError) as caught:
        hlopass.verify(HEAD + body, devices=1)
    assert [each.code for each in caught.value.diagnostics] == ["sharding-manual"]


def test_one_device_verifies_a_program_unsplit() -> None:
    proof = hlopass.verify(program('{"data"}, {}'), devices=1)
    assert (proof.ok, proof.report.devices, proof.report.shardings) == (True, 1, ())
    assert "not-partitioned" in codes(proof)


def test_compiling_alone_tells_what_was_obtained() -> None:
    proof = hlopass.verify(program('{"data"}, {}'), mode="compile")
    assert obtained(proof)[0] == "[data, null]"
    assert proof.report.unsharded is not None
    assert proof.report.unsharded.equal is None
    assert proof.report.unsharded.footprint


def test_what_is_not_sharded_is_done_by_each() -> None:
    text = BODY.replace("ARG", "").replace("WEIGHT", "").replace("RESULT", "").replace("OTHER", "")
    proof = hlopass.verify(text.rsplit("}", 1)[0], devices=2)
    assert "nothing-sharded" in codes(proof)
    assert proof.donations[0].evidence.same_buffer == (True, True)
    assert proof.ok


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        (8, "the program is sharded over 4 devices, and 8 are given"),
        (2, "the program is sharded over 4 devices, and 2 are given"),
    ],
)
def test_another_number_of_devices(devices: int, words: str) -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.verify(program('{"data"}, {}'), devices=devices)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("mesh-devices", words)
    assert found.help == "--devices 4, or --devices 1 to verify it unsplit"


def test_more_devices_than_the_cpu_is_divided_into() -> None:
    large = program('{"data"}, {}').replace('"data"=2', '"data"=4096').replace("= 4 :", "= 8192 :")
    with pytest.raises(HlopassError) as caught:
        hlopass.verify(large.replace('[{"data"}, {}]', "[{}, {}]"))
    assert "8192 devices are more than the 512" in caught.value.diagnostics[0].message


def test_a_pair_of_unequal_shards_is_refused_before_it_is_compiled() -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.verify(program('{"data"}, {}', result="{}, {}"))
    assert any("shards" in each.message for each in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--devices", "0"], "0 is not in the range x>=1"),
        (["--devices", "many"], "'many' is not a valid integer"),
        (["--tolerance", "-1"], "-1.0 is not in the range x>=0"),
        (["--tolerance", "nan"], "cannot tolerate a difference of nan"),
        (["--tolerance", "inf"], "cannot tolerate a difference of inf"),
    ],
)
def test_options_that_mean_nothing(options: list[str], words: str) -> None:
    done = hlopass_cli("verify", "-", *options, text=program('{"data"}, {}'))
    assert done.exit_code == 2
    assert words in done.stderr


def test_the_command_line_tells_of_devices() -> None:
    done = hlopass_cli("verify", "-", "--devices", "4", text=program('{"data"}, {"model"}'))
    assert done.exit_code == 0
    assert " asked           obtained        of" in done.stdout
    assert "1 of 1 donated argument reused: 128 of 128 bytes, on all 4 devices" in done.stdout
    assert "each device takes part in: all-" in done.stdout
    assert "results on 4 devices and on one agree" in done.stdout


def test_no_tolerance_finds_what_a_sum_in_another_order_changes() -> None:
    wide = program('{}, {"data"}', '{"data"}, {}').replace("4x6xf32", "512x6xf32")
    wide = wide.replace("8x4xf32", "8x512xf32")
    assert hlopass.verify(wide).ok
    strict = hlopass.verify(wide, tolerance=0.0)
    assert not strict.ok
    assert "results-differ-sharded" in codes(strict)
