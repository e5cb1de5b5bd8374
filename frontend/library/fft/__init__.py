"""Discrete Fourier transforms as routines and as matrix products; derivatives and batches follow by rule."""
