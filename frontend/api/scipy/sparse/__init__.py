"""What works on matrices that are functions: `adze.scipy.sparse.linalg`."""

from . import linalg as linalg

__all__ = ["linalg"]
