"""The lowerings of ops inside of a loop that is one kernel; importing them fills the table of `table.py`."""

from . import control, indexing, movement, plain, products, reductions

__all__ = ["control", "indexing", "movement", "plain", "products", "reductions"]
