"""Arguments that do not fit each other: what is an error of NumPy is one of adze, with the line."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adze import numpy as xp
from adze.dialects.errors import AdzeError

ARRAYS: dict[str, Any] = {
    "np": np,
    "a3": np.ones(3, "f4"),
    "a5": np.arange(5, dtype="f4"),
    "i3": np.arange(3),
    "i5": np.arange(5),
    "m33": np.ones((3, 3), "f4"),
    "m35": np.ones((3, 5), "f4"),
}
CALLS = (
    "average(a3,weights=a5)",
    "average(m35,axis=0,weights=a5)",
    "cov(a3,a5)",
    "cov(m35,fweights=i3)",
    "cov(m35,aweights=a3)",
    "corrcoef(a3,a5)",
    "trapezoid(a3,a5)",
    "trapezoid(m35,a3)",
    "histogram(a3,weights=a5)",
    "histogram2d(a3,a5)",
    "bincount(i3,weights=a5)",
    "polyfit(a3,a5,1)",
    "polyfit(a5,a5,1,w=a3)",
    "compress([True]*5,a3)",
    "extract(a5>0,a3)",
    "select([a3>0],[a5])",
    "select([a3>0],[a3,a3])",
    "cross(a5,a5)",
    "insert(a3,[0,1],a3)",
    "delete(a3,7)",
    "lexsort((a3,a5))",
    "interp(a3,a3,a5)",
    "linalg.multi_dot([a3,m33,a5])",
    "tensordot(m35,m35,1)",
    "matvec(m35,a3)",
    "vecmat(a5,m35)",
    "vecdot(a3,a5)",
    "repeat(a3,[1,2])",
    "split(a5,2)",
    "tile(a3,-1)",
    "roll(m35,(1,2,3),axis=(0,1))",
    "dstack([m35,m33])",
    "block([[m35],[m33]])",
    "column_stack([a3,a5])",
    "diagonal(a3)",
    "trace(a3)",
    "take_along_axis(m33,i5,1)",
    "where(a3>0,a5,1)",
    "moveaxis(m33,(0,1),(0,))",
    "transpose(m33,(0,))",
    "transpose(m33,(0,0))",
    "expand_dims(m33,(0,0))",
    "squeeze(m33,0)",
    "quantile(a3,1.5)",
    "percentile(a3,120)",
    "linalg.solve(m33,a5)",
    "linalg.lstsq(m35,a5,rcond=None)",
    "linalg.tensorsolve(m33,a5)",
    "einsum('ij,ik->jk',m35,np.ones((4,5)))",
    "broadcast_to(a3,(5,))",
    "pad(a3,((1,1),(1,1)))",
    "pad(a3,-1)",
    "diff(a3,n=-1)",
    "vander(m33)",
    "diag(np.ones((2,2,2)))",
    "convolve(m33,a3)",
    "gradient(m33,a5,a3)",
    "searchsorted(m33,a3)",
    "searchsorted(a5,a3,sorter=i3)",
    "piecewise(a3,[a5>0],[1.])",
    "array_split(a3,0)",
    "linspace(0,1,-1)",
    "partition(a3,5)",
    "argpartition(a3,5)",
    "fft.fft(a3,0)",
    "fft.fftn(m33,s=(2,),axes=(0,1))",
    "fft.irfft(np.ones(1))",
    "linalg.matrix_power(m35,2)",
    "linalg.det(m35)",
    "linalg.norm(m33,axis=(0,0))",
    "cumsum(m33,axis=2)",
    "sort(a3,axis=1)",
    "clip(a3,a5,None)",
    "append(m33,a3,axis=0)",
    "meshgrid(m33,a3,indexing='zz')",
    "rot90(a3)",
    "flip(a3,1)",
    "tril(np.float32(1))",
    "reshape(a5,(2,-1))",
    "mean(a3,where=a5>0)",
)


def value(module: Any, call: str) -> Any:
    return eval(f"module.{call}", {**ARRAYS, "module": module})


@pytest.mark.parametrize("call", CALLS)
def test_what_does_not_fit_is_an_error(call: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception):  # noqa: B017 - NumPy has many classes
            value(np, call)
    with pytest.raises((ValueError, TypeError, IndexError)) as raised:
        value(xp, call)
    assert isinstance(raised.value, AdzeError)
    assert "\n  at " in str(raised.value)
