"""Scalar code for every elementwise op: one method an op, written in `arith`, `math` and `complex`.

`Scalars` (scalars.py) states what each op means and picks the code by dtype: `integers`, `reals`,
`conversions`, `exponentials`, `trigonometry`, `special` and `complexes` hold it, in the small language of
`terms` and `pairs`; `coefficients` holds the polynomials. Everything is branch free, so that a
`linalg.generic` around it vectorises.
"""

from .scalars import NO_INLINE, Scalars, scalar_code

__all__ = ["NO_INLINE", "Scalars", "scalar_code"]
