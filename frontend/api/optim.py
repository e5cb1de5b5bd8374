"""Optimizers as pure functions of pytrees."""

from .frontend.optim import Optimizer as Optimizer
from .frontend.optim import adam as adam
from .frontend.optim import adamw as adamw
from .frontend.optim import apply_updates as apply_updates
from .frontend.optim import chain as chain
from .frontend.optim import clip_by_global_norm as clip_by_global_norm
from .frontend.optim import cosine_decay as cosine_decay
from .frontend.optim import global_norm as global_norm
from .frontend.optim import sgd as sgd

__all__ = [
    "Optimizer",
    "adam",
    "adamw",
    "apply_updates",
    "chain",
    "clip_by_global_norm",
    "cosine_decay",
    "global_norm",
    "sgd",
]
