"""Functions of neural networks: activations, normalisation, convolution, pooling, losses."""

from ..frontend.library.attention import dot_product_attention as dot_product_attention
from ..frontend.library.names import public_names as _public_names
from ..frontend.library.nn import avg_pool as avg_pool
from ..frontend.library.nn import batch_norm as batch_norm
from ..frontend.library.nn import celu as celu
from ..frontend.library.nn import conv as conv
from ..frontend.library.nn import cross_entropy as cross_entropy
from ..frontend.library.nn import elu as elu
from ..frontend.library.nn import gelu as gelu
from ..frontend.library.nn import glu as glu
from ..frontend.library.nn import hard_sigmoid as hard_sigmoid
from ..frontend.library.nn import hard_silu as hard_silu
from ..frontend.library.nn import hard_swish as hard_swish
from ..frontend.library.nn import hard_tanh as hard_tanh
from ..frontend.library.nn import identity as identity
from ..frontend.library.nn import layer_norm as layer_norm
from ..frontend.library.nn import leaky_relu as leaky_relu
from ..frontend.library.nn import log1mexp as log1mexp
from ..frontend.library.nn import log_sigmoid as log_sigmoid
from ..frontend.library.nn import max_pool as max_pool
from ..frontend.library.nn import min_pool as min_pool
from ..frontend.library.nn import mish as mish
from ..frontend.library.nn import one_hot as one_hot
from ..frontend.library.nn import relu as relu
from ..frontend.library.nn import relu6 as relu6
from ..frontend.library.nn import rms_norm as rms_norm
from ..frontend.library.nn import selu as selu
from ..frontend.library.nn import sigmoid as sigmoid
from ..frontend.library.nn import sigmoid_cross_entropy as sigmoid_cross_entropy
from ..frontend.library.nn import silu as silu
from ..frontend.library.nn import soft_sign as soft_sign
from ..frontend.library.nn import softplus as softplus
from ..frontend.library.nn import sparse_plus as sparse_plus
from ..frontend.library.nn import sparse_sigmoid as sparse_sigmoid
from ..frontend.library.nn import squareplus as squareplus
from ..frontend.library.nn import swish as swish
from ..frontend.library.nn import tanh as tanh
from ..frontend.library.softmax import log_softmax as log_softmax
from ..frontend.library.softmax import logmeanexp as logmeanexp
from ..frontend.library.softmax import logsumexp as logsumexp
from ..frontend.library.softmax import softmax as softmax
from ..frontend.library.softmax import standardize as standardize
from . import initializers as initializers

__all__ = ["initializers", *_public_names(globals())]
