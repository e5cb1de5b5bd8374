"""Tests of `adze.numpy`: every function against NumPy, eager, traced and (selected ones) compiled."""
