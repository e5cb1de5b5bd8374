"""Which arrays the kernels of routines take, by the name of the kernel.

Attention has queries `[..., T, H]`, keys and values `[..., S, H]`, all of one half, and maybe a mask
`[..., T, S]` that is true where a query sees a key, of which it sees one at least; all sizes are known. Its
name says by what scores are multiplied.
Idea: the last axes of an operand are those of one matrix or row, whose sizes must be known but for a few
kernels. The axes before them, of which there may be any number, count matrices; how many there are may show
at the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .types import BFLOAT16, COMPLEX, FLOAT16, FLOAT32, FLOAT64, TensorType

ATTENTION: Final = "attention"
HALVES: Final = (FLOAT16, BFLOAT16)
DTYPES: Final = (FLOAT32, FLOAT64)
_SOLVES: Final = tuple(
    f"solve_{triangle}{unit}{transposed}"
    for triangle in ("lower", "upper")
    for unit in ("", "_unit")
    for transposed in ("", "_transposed")
)
_ROWS: Final = ("fft", "ifft", "rfft", "irfft", "rfft_transposed", "irfft_transposed")
_MATRICES: Final = (
    *("cholesky", "lu", "qr", "qr_complete", "jacobi", "eigh", "eigvalsh", "svd", "svdvals"),
    *("thin_svd", "thin_svdvals", "signed_pivots", "lu_solve", "lu_solve_transposed"),
    *("real_schur", "real_schur_blocks"),
    *("fft_columns", "ifft_columns", *_SOLVES),
)
COMPLEX_KERNELS: Final = ("fft", "ifft", "fft_columns", "ifft_columns", "irfft", "rfft_transposed")
ANY_KERNELS: Final = (
    *("lu", "cholesky", "qr", "qr_complete", "eigh", "eigvalsh", "svd", "svdvals"),
    *("thin_svd", "thin_svdvals", "signed_pivots", "lu_solve", "lu_solve_transposed"),
    *_SOLVES,
)
OWN_AXES: Final[Mapping[str, int]] = {**dict.fromkeys(_ROWS, 1), **dict.fromkeys(_MATRICES, 2)}
"""How many axes a matrix or a row has."""

ANY_SIZES: Final[Mapping[str, tuple[tuple[tuple[int, ...], ...], ...]]] = {
    "cholesky": (((0, -2), (0, -1)),),
    "lu": (((0, -2), (0, -1)), ((0, -1),), ((0, -2),)),
    "signed_pivots": (((0, -1),),),
    "lu_solve": (((2, -2), (2, -1)),),
    "lu_solve_transposed": (((2, -2), (2, -1)),),
    "qr": (((0, -2), (0, -2, -1)), ((0, -2, -1), (0, -1))),
    "qr_complete": (((0, -2), (0, -2)), ((0, -2), (0, -1))),
    "eigh": (((0, -1),), ((0, -2), (0, -1))),
    "eigvalsh": (((0, -1),),),
    "svd": (((0, -2), (0, -1)), ((0, -1),), ((0, -2), (0, -1))),
    "svdvals": (((0, -1),),),
    "thin_svd": (((0, -2), (0, -2, -1)), ((0, -2, -1),), ((0, -2, -1), (0, -1))),
    "thin_svdvals": (((0, -2, -1),),),
    **dict.fromkeys(_SOLVES, (((1, -2), (1, -1)),)),
}
"""Kernels of matrices whose sizes may show at the call: for the last axes of each result, the operand that
has such an axis, and which; of several axes the shortest. Matrices of `lu` have at least as many rows as
columns."""


def takes(kernel: str, operands: Sequence[TensorType]) -> bool:
    """Whether a kernel of that name takes such arrays, if a target has it."""
    if attention_scale(kernel) is not None:
        return operands[0].dtype in HALVES and all(t.is_static and 0 not in t.shape for t in operands)
    is_complex = operands[0].dtype in COMPLEX
    if not is_complex and operands[0].dtype not in DTYPES:
        return False
    if kernel not in ANY_KERNELS and is_complex != (kernel in COMPLEX_KERNELS):
        return False
    return all(_has_known_items(kernel, type_) for type_ in operands)


def attention_name(scale: float) -> str:
    """The name of the routine of attention that multiplies scores by `scale`."""
    return f"{ATTENTION} {float(scale)!r}"


def attention_scale(kernel: str) -> float | None:
    """What the routine of attention of this name multiplies scores by; None for another routine."""
    first, _, scale = kernel.partition(" ")
    return float(scale) if first == ATTENTION else None


def _has_known_items(kernel: str, type_: TensorType) -> bool:
    """Whether there are elements in all axes of known size, and only axes that may have others do."""
    sizes = type_.static_shape
    own = OWN_AXES.get(kernel, type_.rank)
    return 0 not in sizes and (kernel in ANY_SIZES or None not in sizes[type_.rank - own :])
