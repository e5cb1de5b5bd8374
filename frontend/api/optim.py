"""Optimizers as pure functions of pytrees."""

from .frontend.library.names import public_names as _public_names
from .frontend.library.optim import Optimizer as Optimizer
from .frontend.library.optim import adam as adam
from .frontend.library.optim import adamw as adamw
from .frontend.library.optim import apply_updates as apply_updates
from .frontend.library.optim import chain as chain
from .frontend.library.optim import clip_by_global_norm as clip_by_global_norm
from .frontend.library.optim import cosine_decay as cosine_decay
from .frontend.library.optim import global_norm as global_norm
from .frontend.library.optim import sgd as sgd

__all__ = _public_names(globals())
