"""`jax.dtypes`: types by name, and JAX's rule that 64 bits become 32 unless they are switched on."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

import adze.numpy as anp

from .settings import setting

_NARROWED: Final = {
    np.dtype(wide): np.dtype(narrow)
    for wide, narrow in (
        (np.float64, np.float32),
        (np.complex128, np.complex64),
        (np.int64, np.int32),
        (np.uint64, np.uint32),
    )
}


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """The type that JAX would give an array of `dtype`."""
    found = np.dtype(dtype)
    return found if setting("enable_x64").value else _NARROWED.get(found, found)


def _default(dtype: Any) -> Any:
    return lambda: canonicalize_dtype(dtype).type


def _scalars() -> dict[type, np.dtype]:
    kinds = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
    return {kind: canonicalize_dtype(dtype) for kind, dtype in kinds.items()}


def _narrow_types() -> dict[str, Any]:
    names = (
        "bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
        "float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn int2 int4 uint2 uint4"
    )
    return {name: getattr(ml_dtypes, name) for name in names.split()}


NAMES: Final[dict[str, Any]] = {
    **_narrow_types(),
    "int1": None,
    "uint1": None,
    "_intn_dtypes": [np.dtype(getattr(ml_dtypes, n)) for n in ("int2", "int4", "uint2", "uint4")],
    "float0": np.dtype([("float0", np.void, 0)]),
    "canonicalize_dtype": canonicalize_dtype,
    "default_types": {
        "b": _default(np.bool_),
        "i": _default(np.int64),
        "u": _default(np.uint64),
        "f": _default(np.float64),
        "c": _default(np.complex128),
    },
    "default_float_dtype": lambda: canonicalize_dtype(np.float64),
    "default_int_dtype": lambda: canonicalize_dtype(np.int64),
    "python_scalar_types_to_dtypes": _scalars(),
    "finfo": ml_dtypes.finfo,
    "iinfo": ml_dtypes.iinfo,
    "issubdtype": anp.issubdtype,
    "isdtype": anp.isdtype,
    "result_type": anp.result_type,
    "promote_types": anp.promote_types,
    "dtype": lambda x: np.dtype(getattr(x, "dtype", None) or _scalars().get(type(x)) or np.asarray(x).dtype),
    "scalar_type_of": lambda x: {"b": bool, "i": int, "u": int, "f": float, "V": float, "c": complex}[
        np.asarray(x).dtype.kind
    ],
}
