"""`adze.numpy`: arrays as NumPy and the Python array API standard (2024.12) name them.

Default dtypes are float32 and int64; no function ever narrows a dtype. Out-of-range values of index
arrays are clamped when read and dropped when written; integers known while tracing are checked.
"""

from ..frontend.listed_names import ListedNames as _ListedNames

_names = _ListedNames(globals())
__getattr__, __dir__ = _names.load, _names.all_names
