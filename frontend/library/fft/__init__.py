"""Discrete Fourier transforms as matrix products: linear, so that derivatives and batches follow by rule."""
