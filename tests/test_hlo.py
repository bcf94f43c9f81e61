"""HLO stays HLO: donations are written into the module that came, and nothing else is touched."""

from __future__ import annotations

import contextlib
import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hlopass
from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.formats import hlo_proto, hlo_text
from hlopass.hlo_origin import Alias, Donations, Slot

STEP = """\
HloModule step, is_scheduled=true, buffer_donor={ (2, {}) }, entry_computation_layout={(f32[4,2]{0,1}, f32[4,2]{0,1}, s32[])->(f32[4,2]{0,1}, s32[])}, frontend_attributes={note="a, {b"}, num_partitions=2

// a comment that stays
ENTRY %main.7 (w.1: f32[4,2], g.2: f32[4,2], n.3: s32[]) -> (f32[4,2], s32[]) {
  %w.1 = f32[4,2]{0,1} parameter(0), metadata={op_name="state['w']"}
  %g.2 = f32[4,2]{0,1} parameter(1)
  %new.4 = f32[4,2]{0,1} subtract(%w.1, %g.2), metadata={op_name="jit(step)/sub" source_file="s.py" source_line=3}
  %n.3 = s32[] parameter(2)
  %call.5 = s32[] custom-call(%n.3), custom_call_target="NobodyKnows", api_version=API_VERSION_UNSPECIFIED
  ROOT %tuple.6 = (f32[4,2]{0,1}, s32[]) tuple(%new.4, %call.5)
}
"""  # noqa: E501

TUPLES = """\
HloModule tuples, input_output_alias={ {0}: (0, {1}, must-alias) }

ENTRY %main (p: (f32[4], f32[8]), q: s32[]) -> (f32[8], (f32[4], s32[])) {
  %p = (f32[4]{0}, f32[8]{0}) parameter(0)
  %q = s32[] parameter(1)
  %a = f32[4]{0} get-tuple-element(%p), index=0
  %b = f32[8]{0} get-tuple-element(%p), index=1
  %c = f32[8]{0} add(%b, %b)
  %d = f32[4]{0} negate(%a)
  %t = (f32[4]{0}, s32[]) tuple(%d, %q)
  ROOT %r = (f32[8]{0}, (f32[4]{0}, s32[])) tuple(%c, %t)
}
"""

ONE = """\
HloModule one

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %y = f32[4]{0} add(%x, %x)
}
"""

MESSAGES = ["hlo-proto", "hlo-pbtxt", "hlo-dump", "hlo-dump-pbtxt"]


def refused(data: bytes | str) -> Diagnostic:
    with pytest.raises(HlopassError) as caught:
        formats.read(data, "m")
    return caught.value.diagnostics[0]


def message(data: bytes) -> Any:
    text = not data.startswith(b"\n")
    return hlo_proto.parse(data.decode() if text else data, "m")


def test_arguments_are_named_as_the_frontend_or_hlo_names_them() -> None:
    program = formats.read(STEP, "m")
    assert [value.name for value in program.arguments] == ["state['w']", "g.2", "n.3"]
    assert program.partitions == 2


def test_the_text_changes_in_its_header_alone() -> None:
    rewritten = hlopass.rewrite(STEP, donate=["state['w']"])
    out = rewritten.data().decode()
    assert out.split("\n")[1:] == STEP.split("\n")[1:]
    head = STEP.split("\n")[0]
    written = "HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }, is_scheduled=true"
    assert out.split("\n")[0] == head.replace("HloModule step, is_scheduled=true", written)
    again = hlopass.rewrite(out, donate=["state['w']"])
    assert not again.changed or again.data().decode() == out
    assert [d.argument.index for d in again.donations] == [0, 2]


def test_all_donations_away() -> None:
    out = hlopass.rewrite(STEP, automatic="off").data().decode()
    assert out == STEP.replace(", buffer_donor={ (2, {}) }", "")


def test_nothing_asked_is_the_input_itself() -> None:
    for source in (STEP, TUPLES, ONE):
        assert hlopass.rewrite(source.encode()).data() == source.encode()


def test_tuples_are_shown_flat_and_addressed_by_their_place() -> None:
    program = formats.read(TUPLES, "m")
    assert [value.name for value in program.arguments] == ["(0, {0})", "(0, {1})", "q"]
    assert len(program.results) == 3
    out = hlopass.rewrite(TUPLES, donate=["(0, {0})"]).data().decode()
    ties = "{ {1, 0}: (0, {0}, may-alias), {0}: (0, {1}, must-alias) }"
    assert out == TUPLES.replace("{ {0}: (0, {1}, must-alias) }", ties)


def test_a_result_that_is_no_tuple_has_no_index() -> None:
    out = hlopass.rewrite(ONE, donate=[0]).data().decode()
    assert out == ONE.replace("one", "one, input_output_alias={ {}: (0, {}, may-alias) }")
    donor = hlopass.rewrite(ONE, donate=[{"arg": 0, "as": "donor"}]).data().decode()
    assert donor == ONE.replace("one", "one, buffer_donor={ (0, {}) }")


def test_a_text_without_a_header_gets_one() -> None:
    bare = ONE.removeprefix("HloModule one\n\n").replace("%main (x: f32[4]) -> f32[4] {", "main {")
    out = hlopass.rewrite(bare, donate=[0]).data().decode()
    ties = "input_output_alias={ {}: (0, {}, may-alias) }"
    assert out == f"HloModule module, {ties}\n\n{bare}"
    assert hlopass.rewrite(out).data().decode() == out


@pytest.mark.parametrize("emit", MESSAGES)
def test_a_message_changes_in_these_fields_alone(emit: str) -> None:
    data = hlopass.convert(TUPLES, emit)
    out = hlopass.rewrite(data, donate=["(0, {0})"]).data()
    before, after = message(data), message(out)
    module = hlo_proto.module_of(after)
    assert hlo_proto.donations(module) == Donations(
        (Alias((1, 0), Slot(0, (0,))), Alias((0,), Slot(0, (1,)), "must-alias"))
    )
    module.ClearField("input_output_alias")
    hlo_proto.module_of(before).ClearField("input_output_alias")
    assert after == before
    assert after.SerializeToString(deterministic=True) == before.SerializeToString(
        deterministic=True
    )
    assert hlopass.rewrite(out).data() == out
    assert [each.name for each in formats.read(out, "m").arguments] == ["(0, {0})", "(0, {1})", "q"]


def test_fields_that_nobody_knows_stay() -> None:
    data = hlopass.convert(ONE, "hlo-proto")
    unknown = b"\xba\xbb\x03\x04kept"
    out = hlopass.rewrite(data + unknown, donate=[0]).data()
    assert out.endswith(unknown)
    assert out.removesuffix(unknown) == hlopass.rewrite(data, donate=[0]).data()


def test_names_that_are_no_utf8_are_xlas_to_refuse() -> None:
    data = hlopass.convert(ONE, "hlo-proto").replace(b"\x01x", b"\x01\xff")
    assert refused(data).code == "hlo-import"


def test_a_snapshot_keeps_its_literals() -> None:
    snapshot = hlo_proto.wrapped(hlopass.convert(ONE, "hlo-proto"), "HloSnapshot")
    snapshot.execution_platform = b"cpu"
    snapshot.arguments.add(f32s=[1, 2, 3, 4])
    out = message(hlopass.rewrite(snapshot.SerializeToString(), donate=[0]).data())
    assert out.DESCRIPTOR.name == "HloSnapshot" and out.execution_platform == b"cpu"
    assert list(out.arguments[0].f32s) == [1, 2, 3, 4]
    assert hlo_proto.donations(out.hlo.hlo_module).aliases == (Alias((), Slot(0, ())),)


def test_from_one_form_of_hlo_to_another() -> None:
    text = hlopass.rewrite(TUPLES, donate=["(0, {0})"]).data()
    data = hlopass.convert(text, "hlo-proto.gz")
    back = hlopass.convert(gzip.decompress(data), "hlo").decode()
    assert "{1,0}: (0, {0}, may-alias)" in back and "must-alias" in back
    assert hlopass.convert(hlopass.convert(data, "hlo-pbtxt"), "hlo-proto") == gzip.decompress(data)


def test_what_a_message_has_no_place_for_is_said() -> None:
    warned: list[Diagnostic] = []
    hlopass.convert(STEP, "hlo-proto", warn=warned.append)
    assert [each.code for each in warned] == ["hlo-lost"]
    assert "num_partitions=2" in warned[0].message


def test_to_stablehlo_and_back_carries_donations_and_partitions() -> None:
    warned: list[Diagnostic] = []
    text = hlopass.rewrite(STEP, donate=["state['w']"]).data("text", warned.append).decode()
    assert "tf.aliasing_output = 0 : i32" in text and "jax.buffer_donor = true" in text
    assert "mhlo.num_partitions = 2 : i32" in text
    assert "mhlo.input_output_alias" not in text
    assert "is_scheduled" in warned[0].message and warned[0].code == "hlo-lost"
    back = hlopass.convert(text, "hlo").decode()
    head = back.split("\n")[0]
    assert "{0}: (0, {}, may-alias)" in head and "buffer_donor={ (2, {}) }" in head
    assert "num_partitions=2" in head


SPEC = {"mesh": {"x": 2}, "args": {"g.2": ["x", None]}, "results": {"0": [None, "x"]}}


def test_shardings_are_written_into_the_text_and_nothing_else() -> None:
    written = hlopass.rewrite(STEP, shard=SPEC).data().decode()
    added = (", sharding={devices=[2,1]<=[2]}", "parameter(1)")
    assert f"{added[1]}{added[0]}\n" in written
    root = "{{devices=[1,2]<=[2]}, {replicated}}"
    assert f"tuple(%new.4, %call.5), sharding={root}\n" in written
    flags = ", allow_spmd_sharding_propagation_to_output={false,true}"
    assert flags in written
    plain = written.replace(added[0], "").replace(f", sharding={root}", "").replace(flags, "")
    assert plain == STEP
    again = hlopass.rewrite(written, shard=SPEC)
    assert not again.changed and again.data().decode() == written


@pytest.mark.parametrize("format", MESSAGES)
def test_shardings_are_written_into_a_message(format: Any) -> None:
    data = hlopass.convert(STEP.replace(", num_partitions=2", ""), format)
    warned: list[Diagnostic] = []
    written = hlopass.rewrite(data, shard=SPEC).data(warn=warned.append)
    assert ["num_partitions=2" in each.message for each in warned] == [True]
    module = hlo_proto.module_of(hlo_proto.parse(as_given(written, format), "m"))
    entry = module.computations[-1].instructions
    sharded = {each.name: each for each in entry if each.HasField("sharding")}
    assert sorted(sharded) == [b"g.2", b"tuple.6"]
    for each in sharded.values():
        each.ClearField("sharding")
    before = hlo_proto.module_of(hlo_proto.parse(as_given(data, format), "m"))
    assert module == before
    assert hlopass.inspect(written).arguments[1].layout.shard_shape == (2, 2)


def as_given(data: bytes, format: str) -> bytes | str:
    return data.decode() if format.endswith("pbtxt") else data


def test_a_leaf_of_a_tuple_is_sharded_beside_the_others() -> None:
    results = {"0": ["x"], "*": "replicated"}
    spec: dict[str, Any] = {"mesh": {"x": 2}, "args": {"1": ["x"]}, "results": results}
    written = hlopass.rewrite(TUPLES, shard=spec).data().decode()
    assert "parameter(0), sharding={{replicated}, {devices=[2]<=[2]}}\n" in written
    assert "tuple(%c, %t), sharding={{devices=[2]<=[2]}, {replicated}, {replicated}}\n" in written
    assert "parameter(1)\n" in written
    spec = {"mesh": {"x": 2}, "args": {"0": ["x"]}, "results": {"0": "replicated"}}
    assert hlopass.rewrite(ONE, shard=spec).data().decode() == (
        ONE.replace("HloModule one", "HloModule one, num_partitions=2")
        .replace("parameter(0)", "parameter(0), sharding={devices=[2]<=[2]}")
        .replace("add(%x, %x)", "add(%x, %x), sharding={replicated}")
    )


def test_shardys_shardings_are_refused() -> None:
    rewritten = hlopass.rewrite(STEP, shard=SPEC | {"dialect": "shardy"})
    with pytest.raises(HlopassError) as caught:
        rewritten.data()
    assert caught.value.diagnostics[0].code == "hlo-sharding"
    assert b"sdy.mesh" in rewritten.data("text")


def test_sharded_hlo_is_proved_on_its_devices() -> None:
    spec = {"mesh": {"x": 2}, "args": {"0": ["x"]}, "results": {"0": ["x"]}}
    rewritten = hlopass.rewrite(ONE, shard=spec, donate=[0])
    proof = hlopass.verify(hlopass.rewrite(rewritten.data()))
    assert proof.ok and proof.report.devices == 2
    assert proof.donations[0].verdict == "reused"
    assert all(each.as_asked for each in proof.report.shardings)


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        (("subtract(", "subtrakt("), "module-parse", "m:7:"),
        (("f32[4,2]{0,1} subtract", "f32[4,3]{0,1} subtract"), "", "m"),
        ((STEP[STEP.index("%n.3 = ") :], ""), "module-parse", "m:8:"),
    ],
)
def test_text_that_xla_does_not_read(change: tuple[str, str], code: str, place: str) -> None:
    found = refused(STEP.replace(*change))
    assert found.code.startswith(code) and str(found.where).startswith(place)


def test_text_that_kills_xla_ends_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(STEP.replace("parameter(2)", "parameter(3)"))
    command = [sys.executable, "-m", "hlopass", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and "compiler crashed with SIGABRT" in done.stderr


def test_truncated_messages_are_refused_wherever_they_end() -> None:
    data = hlopass.convert(TUPLES, "hlo-proto")
    for end in range(1, len(data)):
        with contextlib.suppress(HlopassError):
            formats.read(data[:end], "m")


def test_other_text_protos_are_refused() -> None:
    found = refused('hlo_module { name: "x" }')
    assert found.code == "format-unknown" and "HloModuleProto" in found.message
    found = refused('name: "x"\ncomputations { nonsense: 1 }')
    assert found.notes and found.notes[0].startswith("line 2:")


@pytest.mark.parametrize(
    "header",
    [
        'HloModule m, a={x="}, y={", z={}}, num_partitions=4, b=1',
        "HloModule m,a={x={y={}}} , num_partitions=4",
        "// HloModule x, num_partitions=7\nHloModule m, num_partitions=4\n",
    ],
)
def test_attributes_of_a_header(header: str) -> None:
    assert hlo_text.attribute(header, "num_partitions") == "4"
    assert hlo_text.attribute(header, "missing") is None
    changed = hlo_text.with_attribute(header, "num_partitions", "8")
    assert changed.replace("8", "4").replace(" ", "") == header.replace(" ", "")
    without = hlo_text.with_attribute(changed, "num_partitions", None)
    assert hlo_text.attribute(without, "num_partitions") is None


def test_verify_and_inspect_take_hlo() -> None:
    source = hlopass.rewrite(ONE, donate=[0]).data()
    proof = hlopass.verify(source)
    assert proof.ok and proof.donations[0].verdict == "reused"
    assert hlopass.inspect(source).donated_bytes == 16
