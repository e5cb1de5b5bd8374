"""Fourier transforms of complex arrays along one axis, as kernels."""
