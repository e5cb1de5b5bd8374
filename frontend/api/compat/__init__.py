"""Code that is written for JAX, run by adze: `import adze.compat.jax as jax`, or `adze.compat.install()`."""

from ..frontend.compat.finder import JaxIsImportedError as JaxIsImportedError
from ..frontend.compat.finder import install as install
from ..frontend.compat.finder import register as _register
from ..frontend.compat.finder import uninstall as uninstall
from ..frontend.library.names import public_names as _public_names

_register()

__all__ = _public_names(globals())
