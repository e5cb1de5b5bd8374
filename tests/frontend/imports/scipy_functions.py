"""SciPy's functions that trace under `SCIPY_ARRAY_API=1`; run as a script, checks each against NumPy.

SciPy reads that variable when it is imported, so `test_neutral_code.py` runs this in a process of its own.
Its argument is a step: 1 checks every function, 5 every fifth. The output is how many were; one that fails
ends the process with its name.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

RNG: Final = np.random.default_rng(0)
U: Final = RNG.uniform(0.1, 0.9, size=9)
V: Final = np.abs(RNG.normal(size=9)) + 0.2
G, H = RNG.normal(size=12), RNG.normal(size=12) + 0.3
P: Final = np.abs(G) + 0.1
X, ROWS = RNG.normal(size=(4, 6)), RNG.normal(size=(5, 3))
COUNTS: Final = np.array([16, 18, 16, 14, 12, 12.0])
FILTER: Final = (np.array([0.2, 0.3, 0.1]), np.array([1, -0.4, 0.1]))

FUNCTIONS: Final[dict[tuple[str, str], tuple[Any, ...]]] = {
    ("special", "entr erf erfc erfinv exp1 expi expit gamma gammaln i0 i0e i1 i1e log_ndtr logit ndtr"): (U,),
    ("special", "ndtri psi softmax"): (U,),
    ("special", "chdtr chdtrc gammainc gammaincc kl_div rel_entr stdtr xlog1py xlogy"): (V, U),
    ("special", "betainc"): (V, V + 1, U),
    ("special", "betaln binom"): (V + 3, V),
    ("special", "zeta"): (V + 1.5, V),
    ("special", "multigammaln"): (V + 3, 2),
    ("stats", "skew kurtosis sem variation describe tmean tvar tstd tsem tmin tmax jarque_bera"): (G,),
    ("stats", "differential_entropy"): (G,),
    ("stats", "gmean entropy circmean circvar circstd gstd"): (P,),
    ("stats", "zmap ttest_ind ttest_rel alexandergovern"): (G, H),
    ("stats", "ttest_1samp trim_mean"): (G, 0.1),
    ("stats", "moment"): (G, 3),
    ("stats", "chisquare power_divergence"): (COUNTS,),
    ("stats", "directional_stats"): (ROWS,),
    ("stats", "combine_pvalues"): (U,),
    ("fft", "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn"): (X,),
    ("fft", "fftshift ifftshift"): (X,),
    ("fft", "fht ifht"): (V, 0.1, 0.5),
    ("signal", "fftconvolve"): (G, U),
    ("signal", "vectorstrength"): (V, 2.0),
    ("signal", "freqz"): FILTER,
    ("signal", "gausspulse"): (G,),
    ("signal", "zpk2tf"): (U[:2], U[:2], 1.0),
    ("integrate", "trapezoid cumulative_trapezoid romb"): (V,),
    ("optimize", "rosen"): (V,),
}


def named() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Each function under its name, with arguments."""
    for (module, names), arguments in FUNCTIONS.items():
        library = importlib.import_module(f"scipy.{module}")
        for name in names.split():
            yield f"{module}.{name}", getattr(library, name), arguments


def arrays_in(value: Any) -> list[Any]:
    """The arrays of a result, which may be a tuple or an object with fields."""
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in arrays_in(item)]
    if hasattr(value, "statistic"):
        return arrays_in([value.statistic, value.pvalue])
    if hasattr(value, "mean_direction"):
        return arrays_in([value.mean_direction, value.mean_resultant_length])
    return [value]


def check(name: str, function: Any, arguments: tuple[Any, ...]) -> None:
    """The function traced by adze and evaluated gives what SciPy computes of NumPy's arrays."""
    import adze
    from adze.passes.analysis.evaluate import evaluate

    leaves, structure = adze.tree.flatten(arguments)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)]

    def called(*arrays: Any) -> list[Any]:
        filled = list(leaves)
        for i, array in zip(places, arrays, strict=True):
            filled[i] = array
        return [
            x for x in arrays_in(function(*adze.tree.unflatten(structure, filled))) if hasattr(x, "shape")
        ]

    program = adze.trace(called, *(leaves[i] for i in places)).program
    results = evaluate(program.module, program.symbol, [leaves[i] for i in places])
    expected = [x for x in arrays_in(function(*arguments)) if hasattr(x, "shape")]
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=1e-7, err_msg=name)


def main() -> None:
    os.environ["SCIPY_ARRAY_API"] = "1"
    warnings.simplefilter("ignore")
    chosen = list(named())[:: int(sys.argv[1])]
    for name, function, arguments in chosen:
        try:
            check(name, function, arguments)
        except Exception as error:
            raise SystemExit(f"{name}: {type(error).__name__}: {error}") from error
    print(len(chosen))


if __name__ == "__main__":
    main()
