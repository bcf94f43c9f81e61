"""What each StableHLO operation does with its operands' buffers. Knows no MLIR.

Names are without their dialect: MHLO has the same ones. The classes follow XLA:
elementwise operations share an operand's buffer (HloInstruction::IsElementwise), indexed
ones are fused into their users (CpuInstructionFusion), updates work in place.
"""

from __future__ import annotations

from hlopass.flow import Effect

_ELEMENTWISE = """
    abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine
    count_leading_zeros divide exponential exponential_minus_one floor imag is_finite log
    log_plus_one logistic map maximum minimum multiply negate not or popcnt power real
    reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select shift_left
    shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor erf
    uniform_quantize uniform_dequantize copy batch_norm_inference
    acos acosh asin asinh atan atanh bessel_i1e broadcast_add broadcast_and
    broadcast_atan2 broadcast_compare broadcast_divide broadcast_maximum broadcast_minimum
    broadcast_multiply broadcast_next_after broadcast_or broadcast_polygamma broadcast_power
    broadcast_remainder broadcast_select broadcast_shift_left broadcast_subtract
    broadcast_xor conj cosh digamma erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma
    next_after polygamma sinh zeta
"""
_INDEXED = """
    broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather
    dynamic_pad dynamic_slice gather pad real_dynamic_slice reverse slice torch_index_select
    transpose
"""
_UPDATE = "dynamic_update_slice scatter while"
_IDENTITY = "optimization_barrier sharding_constraint reshard"
_RESHAPE = "reshape dynamic_reshape"

EFFECTS: dict[str, Effect] = {
    name: effect
    for names, effect in (
        (_ELEMENTWISE, Effect.ELEMENTWISE),
        (_INDEXED, Effect.INDEXED),
        (_UPDATE, Effect.UPDATE),
        (_IDENTITY, Effect.IDENTITY),
        (_RESHAPE, Effect.RESHAPE),
    )
    for name in names.split()
}
"""The effect of an operation by name; what is not listed is OPAQUE."""

ANNOTATIONS = frozenset(
    {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
    }
)
"""Custom calls that say something of a value and compute nothing."""
