"""Initial values of parameters, under the names of `jax.nn.initializers`."""

from ..frontend.library.initializers import Initializer as Initializer
from ..frontend.library.initializers import constant as constant
from ..frontend.library.initializers import delta_orthogonal as delta_orthogonal
from ..frontend.library.initializers import glorot_normal as glorot_normal
from ..frontend.library.initializers import glorot_uniform as glorot_uniform
from ..frontend.library.initializers import he_normal as he_normal
from ..frontend.library.initializers import he_uniform as he_uniform
from ..frontend.library.initializers import kaiming_normal as kaiming_normal
from ..frontend.library.initializers import kaiming_uniform as kaiming_uniform
from ..frontend.library.initializers import lecun_normal as lecun_normal
from ..frontend.library.initializers import lecun_uniform as lecun_uniform
from ..frontend.library.initializers import normal as normal
from ..frontend.library.initializers import ones as ones
from ..frontend.library.initializers import orthogonal as orthogonal
from ..frontend.library.initializers import truncated_normal as truncated_normal
from ..frontend.library.initializers import uniform as uniform
from ..frontend.library.initializers import variance_scaling as variance_scaling
from ..frontend.library.initializers import xavier_normal as xavier_normal
from ..frontend.library.initializers import xavier_uniform as xavier_uniform
from ..frontend.library.initializers import zeros as zeros
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
