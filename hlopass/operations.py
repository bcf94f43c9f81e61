"""What each StableHLO operation does with its operands' buffers. Knows no MLIR.

Names are without their dialect: MHLO has the same ones. The classes follow XLA:
elementwise operations share an operand's buffer (HloInstruction::IsElementwise), those and
indexed ones are fused into their users, the costly ones once (CpuInstructionFusion:
IsExpensive), updates work in place.
"""

from __future__ import annotations

from hlopass.flow import Effect

_ELEMENTWISE = """
    abs add and bitcast_convert ceil clamp compare complex convert cosine
    count_leading_zeros floor imag is_finite maximum minimum multiply negate not or popcnt
    real reduce_precision round_nearest_afz round_nearest_even select shift_left
    shift_right_arithmetic shift_right_logical sign sine subtract tan xor
    uniform_quantize uniform_dequantize copy mulhi square stochastic_convert
    broadcast_add broadcast_and broadcast_compare broadcast_maximum broadcast_minimum
    broadcast_multiply broadcast_or broadcast_select broadcast_shift_left broadcast_subtract
    broadcast_xor broadcast_complex broadcast_shift_right_arithmetic
    broadcast_shift_right_logical conj is_inf is_neg_inf is_pos_inf
"""
_COSTLY_ELEMENTWISE = """
    atan2 cbrt divide exponential exponential_minus_one log log_plus_one logistic map power
    remainder rsqrt sqrt tanh erf batch_norm_inference acos acosh asin asinh atan atanh
    bessel_i1e broadcast_atan2 broadcast_divide broadcast_next_after broadcast_polygamma
    broadcast_power broadcast_remainder cosh digamma erf_inv erfc lgamma next_after
    polygamma sinh zeta broadcast_zeta _asin_acos_kernel
"""
_INDEXED = """
    concatenate dynamic_pad dynamic_slice pad real_dynamic_slice reverse slice
"""
_TRANSPOSE = "transpose"
_COSTLY_INDEXED = "dynamic_gather gather reduce torch_index_select"
_BROADCAST = "broadcast broadcast_in_dim dynamic_broadcast_in_dim"
_INSERT = "dynamic_update_slice"
_UPDATE = "scatter while"
_IDENTITY = "optimization_barrier sharding_constraint reshard add_dependency domain"
_RESHAPE = "reshape dynamic_reshape bitcast"

EFFECTS: dict[str, Effect] = {
    name: effect
    for names, effect in (
        (_ELEMENTWISE, Effect.ELEMENTWISE),
        (_COSTLY_ELEMENTWISE, Effect.COSTLY_ELEMENTWISE),
        (_INDEXED, Effect.INDEXED),
        (_TRANSPOSE, Effect.TRANSPOSE),
        (_COSTLY_INDEXED, Effect.COSTLY_INDEXED),
        (_BROADCAST, Effect.BROADCAST),
        (_INSERT, Effect.INSERT),
        (_UPDATE, Effect.UPDATE),
        (_IDENTITY, Effect.IDENTITY),
        (_RESHAPE, Effect.RESHAPE),
    )
    for name in names.split()
}
"""The effect of an operation by name; what is not listed is OPAQUE."""

_EQUAL = """
    abs add and atan2 cbrt ceil clamp complex cosine divide exponential
    exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum
    multiply negate not or popcnt power real remainder rsqrt select sign sine sqrt subtract
    tan tanh xor
"""
EQUAL_BY_OPERANDS = frozenset(_EQUAL.split())
"""Operations that are equal where their operands are: XLA computes such once (HloCSE)."""

EFFECTFUL = frozenset({"infeed", "outfeed", "recv", "rng", "send", "rng_uniform", "rng_normal"})
"""What runs though nothing needs its results."""

REDUCING = frozenset(
    {"reduce", "reduce_window", "scatter", "select_and_scatter", "sort", "map", "scan"}
    | {"all_reduce", "reduce_scatter"}
)
"""Operations with a region that sees nothing of what is outside it, and has no side effect."""

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
