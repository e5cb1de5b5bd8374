"""Functions of neural networks: activations, normalisation, convolution, pooling, losses."""

from ..frontend.listed_names import ListedNames as _ListedNames

_names = _ListedNames(globals())
__getattr__, __dir__ = _names.load, _names.all_names
