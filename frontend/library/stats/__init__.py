"""Probability distributions and statistics of samples, under the names of `scipy.stats`."""
