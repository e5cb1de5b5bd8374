"""Signals under SciPy's names: convolutions of any rank, trends, and spectra of windows."""
