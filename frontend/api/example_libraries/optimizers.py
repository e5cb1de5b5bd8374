"""Optimizers as triples of functions, under the names of `jax.example_libraries.optimizers`."""

from ..frontend.library.examples.optimizers import JoinPoint as JoinPoint
from ..frontend.library.examples.optimizers import Optimizer as Optimizer
from ..frontend.library.examples.optimizers import OptimizerState as OptimizerState
from ..frontend.library.examples.optimizers import Schedule as Schedule
from ..frontend.library.examples.optimizers import adagrad as adagrad
from ..frontend.library.examples.optimizers import adam as adam
from ..frontend.library.examples.optimizers import adamax as adamax
from ..frontend.library.examples.optimizers import clip_grads as clip_grads
from ..frontend.library.examples.optimizers import constant as constant
from ..frontend.library.examples.optimizers import exponential_decay as exponential_decay
from ..frontend.library.examples.optimizers import inverse_time_decay as inverse_time_decay
from ..frontend.library.examples.optimizers import l2_norm as l2_norm
from ..frontend.library.examples.optimizers import make_schedule as make_schedule
from ..frontend.library.examples.optimizers import momentum as momentum
from ..frontend.library.examples.optimizers import nesterov as nesterov
from ..frontend.library.examples.optimizers import optimizer as optimizer
from ..frontend.library.examples.optimizers import pack_optimizer_state as pack_optimizer_state
from ..frontend.library.examples.optimizers import piecewise_constant as piecewise_constant
from ..frontend.library.examples.optimizers import polynomial_decay as polynomial_decay
from ..frontend.library.examples.optimizers import rmsprop as rmsprop
from ..frontend.library.examples.optimizers import rmsprop_momentum as rmsprop_momentum
from ..frontend.library.examples.optimizers import sgd as sgd
from ..frontend.library.examples.optimizers import sm3 as sm3
from ..frontend.library.examples.optimizers import unpack_optimizer_state as unpack_optimizer_state
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
