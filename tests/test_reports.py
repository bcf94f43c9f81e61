"""Small inputs after troubles that people reported in public, from beside the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hlopass
from hlopass.diagnostics import CompilerDied, HlopassError

REPORTS = Path(__file__).parent.parent.parent / "shared" / "reports"

pytestmark = pytest.mark.skipif(not REPORTS.is_dir(), reason="needs ../shared/reports")


def found(name: str, **options: Any) -> set[str]:
    """The codes of what rewriting says, warnings or errors."""
    for key in ("donate", "shard"):
        if key in options:
            options[key] = REPORTS / options[key]
    try:
        rewritten = hlopass.rewrite(REPORTS / name, **options)
    except HlopassError as error:
        return {each.code for each in error.diagnostics}
    return {each.code for each in rewritten.diagnostics}


REFUSED = {
    "01/explicit_mismatch.mlir": "donate-shard-mismatch",
    "06/alias_i64.mlir": "donate-size-mismatch",
    "06/alias_neg.mlir": "alias-malformed",
    "06/alias_oob.mlir": "alias-out-of-range",
    "06/alias_str.mlir": "alias-malformed",
    "06/alias_wrong_size.mlir": "donate-size-mismatch",
    "06/donor_int.mlir": "donor-malformed",
    "06/donor_unit.mlir": "donor-malformed",
    "23/in.mlir": "sharding-no-mesh",
    "23/in.hlo": "sharding-no-mesh",
    "25/nondiv.mlir": "shard-uneven",
    "25/nondiv_alias.mlir": "donate-uneven",
    "25/sdy_nondiv.mlir": "shard-uneven",
    "26/in.mlir": "mesh-unknown",
    "26/bad_axis.mlir": "axis-unknown",
    "26/both_kinds.mlir": "sharding-mixed",
    "26/mesh_bigger.mlir": "sharding-devices",
    "29/in.mlir": "donate-memory-kind",
    "29/host_arg.mlir": "donate-memory-kind",
    "39/bounded.mlir": "donate-impossible",
    "39/dyn.mlir": "donate-impossible",
    "39/token.mlir": "donate-impossible",
    "39/tuple.mlir": "donate-impossible",
    "39/tuple_alias.mlir": "donate-impossible",
    "crash/segv4_missing_mesh.mlir": "module-parse",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_compiling(name: str) -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.rewrite(REPORTS / name)
    errors = [each for each in caught.value.diagnostics if each.severity == "error"]
    assert {each.code for each in errors} == {REFUSED[name]}
    assert all(each.where is not None for each in errors)


WARNED = {
    "01/annotated.mlir": {"shard-result-open"},
    "02/in.mlir": {"sharding-dropped"},
    "02/alias_no_out_sharding.mlir": {"sharding-dropped", "shard-result-open"},
    "02/sdy_alias_no_out.mlir": {"shard-result-open"},
    "05/both.mlir": {"module-alias-overrides"},
    "05/both_donor.mlir": {"donation-both"},
    "05/donors_attr.mlir": {"module-donor-ignored"},
    "05/other_arg.mlir": {"module-alias-overrides"},
    "06/donor_false.mlir": {"donor-false"},
    "20/in.mlir": {"sharding-dropped"},
    "27/args_only.mlir": {"sharding-dropped"},
    "27/args_v1_list.mlir": {"sharding-dropped"},
    "37/in.mlir": {"donation-not-entry"},
    "27/args_res.mlir": set(),
    "27/sdy_args_only.mlir": set(),
}


@pytest.mark.parametrize("name", WARNED)
def test_said(name: str) -> None:
    assert found(name) == WARNED[name]


def test_a_result_follows_where_a_spec_splits_the_argument() -> None:
    rewritten = hlopass.rewrite(
        REPORTS / "01/in.mlir", donate=REPORTS / "01/manifest.json", shard=REPORTS / "01/spec.yaml"
    )
    assert 'tensor<16xi32> {mhlo.sharding = "{replicated}"}' in rewritten.text().split("->")[1]
    (donation,) = hlopass.verify(rewritten).donations
    assert donation.verdict == "reused"


def test_manifests_that_cannot_be_met_name_the_argument() -> None:
    assert found("06/in.mlir", donate="06/manifest.json") == {"donate-no-result"}
    assert found("30/in.mlir", donate="30/manifest.json") == {"donate-impossible"}


def test_false_means_no() -> None:
    assert "jax.buffer_donor" not in hlopass.rewrite(REPORTS / "06/donor_false_match.mlir").text()


def test_what_is_sharded_already_is_cleared_first() -> None:
    assert found("20/in.mlir", shard="20/spec.yaml") == {"sharding-differs"}
    assert "sharding-kept" in found("20/in.mlir", shard="20/spec.yaml", existing="keep")
    assert "sharding-differs" not in found("20/in.mlir", shard="20/spec.yaml", existing="replace")


def test_aliases_of_a_tuple_go_to_its_leaves() -> None:
    text = hlopass.rewrite(REPORTS / "04/in.hlo").data("text").decode()
    assert text.count("tf.aliasing_output") == 2 and "tuple<" not in text


def test_an_entry_by_another_name_is_picked_on_request() -> None:
    assert found("37/in.mlir", entry="upd") == {"entry-not-main", "donation-both"}
    both = "tf.aliasing_output = 0 : i32, jax.buffer_donor = true"
    text = (REPORTS / "37/in.mlir").read_text().replace(both, "tf.aliasing_output = 0 : i32")
    rewritten = hlopass.rewrite(text, entry="upd")
    assert [each.argument.index for each in rewritten.donations] == [0]


VERDICTS = {
    "01/donor.mlir": ["unpaired"],
    "01/pinned.mlir": ["reused"],
    "02/in.mlir": ["reused", "unpaired"],
    "02/sdy_gather.mlir": ["reused"],
    "04/in.hlo": ["reused", "reused"],
    "05/in.mlir": ["reused"],
    "05/must.mlir": ["reused"],
    "06/donor.mlir": ["unpaired"],
    "07/reshape_alias.mlir": ["reused"],
    "07/reshape_donor.mlir": ["reused"],
    "13/in.mlir": ["unpaired"],
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str) -> None:
    proof = hlopass.verify(REPORTS / name)
    assert [each.verdict for each in proof.donations] == VERDICTS[name]
    if "unpaired" in VERDICTS[name]:
        assert any("bytes" in (each.reason or "") for each in proof.donations)


@pytest.mark.parametrize("name", ["07/bitcast_alias.mlir", "07/transpose_alias.mlir"])
def test_a_reuse_that_costs_its_own_size_in_temporaries(name: str) -> None:
    report = hlopass.verify(REPORTS / name).report
    assert report.temp_bytes is not None and report.temp_bytes.with_ == 1024
    assert hlopass.verify(REPORTS / name, max_temp_bytes=1023).ok is False


def test_temporaries_are_part_of_the_verdict() -> None:
    proof = hlopass.verify(REPORTS / "10/in.mlir", max_temp_bytes=262_143)
    assert proof.donations[0].verdict == "reused" and not proof.ok


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("crash/segv_replica_group_mesh_axes.mlir", "SIGSEGV"),
        ("crash/sigfpe_all_to_all_empty_groups.mlir", "SIGFPE"),
    ],
)
def test_what_kills_the_compiler_does_not_kill_the_caller(name: str, signal: str) -> None:
    with pytest.raises(CompilerDied, match=signal):
        hlopass.verify(REPORTS / name)
