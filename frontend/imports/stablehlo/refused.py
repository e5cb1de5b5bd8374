"""Ops that adze has nothing for, each with the reason: the error names it before anything runs.

Input: nothing. Output: a table of reasons.
"""

from __future__ import annotations

from typing import Final

_DEVICES: Final = "a program that is divided among devices is not supported; export it for one device"
_HOST: Final = "a program that exchanges data with its host while it runs is not supported"
_QUANTIZED: Final = "quantized arrays are not supported; export the program with ordinary types"
_OUTSIDE: Final = "this op of CHLO is not supported; legalize the module to StableHLO first"

REASONS: Final[dict[str, str]] = {
    **{
        f"stablehlo.{name}": _DEVICES
        for name in ("cross-replica-sum", "partition", "async_start", "async_done")
    },
    **{f"stablehlo.{name}": _HOST for name in ("infeed", "outfeed", "recv", "send")},
    "stablehlo.uniform_dequantize": _QUANTIZED,
    "stablehlo.uniform_quantize": _QUANTIZED,
    **{f"chlo.{name}": _OUTSIDE for name in ("dynamic_reshape", "minimum_broadcast_shapes")},
}
