"""The special functions whose names in `jax.lax` are not those of SciPy."""

from ..special import incomplete, scipy_names

bessel_i0e = scipy_names.i0e
bessel_i1e = scipy_names.i1e
random_gamma_grad = incomplete.gamma_sample_slope
igamma = incomplete.gammainc
igamma_grad_a = incomplete.gammainc_slope
igammac = incomplete.gammaincc
