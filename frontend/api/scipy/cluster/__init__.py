"""Clusters under SciPy's names: `adze.scipy.cluster.vq`."""

from . import vq as vq

__all__ = ["vq"]
