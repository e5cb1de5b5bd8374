"""Discrete Fourier transforms, as compositions of matrix products: linear, so they differentiate and map by rule."""
