"""Collectives: over named axes of `vmap` (`named_axes.py`) and over axes of a mesh (`mesh_axes.py`)."""
