"""The array namespace: the Python array API standard 2024.12 and the everyday names of NumPy.

Input: traced or concrete arrays, NumPy arrays and Python scalars. Output: traced arrays in a trace, concrete
ones outside. The functions promote and broadcast as NumPy does and are compositions of ops.
"""

from ...listed_names import ListedNames as _ListedNames

_names = _ListedNames(globals())
__getattr__, __dir__ = _names.load, _names.all_names
