"""Layers as pairs of functions, under the names of `jax.example_libraries.stax`."""

from ..frontend.library.examples.stax import AvgPool as AvgPool
from ..frontend.library.examples.stax import BatchNorm as BatchNorm
from ..frontend.library.examples.stax import Conv as Conv
from ..frontend.library.examples.stax import Conv1DTranspose as Conv1DTranspose
from ..frontend.library.examples.stax import ConvTranspose as ConvTranspose
from ..frontend.library.examples.stax import Dense as Dense
from ..frontend.library.examples.stax import Dropout as Dropout
from ..frontend.library.examples.stax import Elu as Elu
from ..frontend.library.examples.stax import Exp as Exp
from ..frontend.library.examples.stax import FanInConcat as FanInConcat
from ..frontend.library.examples.stax import FanInSum as FanInSum
from ..frontend.library.examples.stax import FanOut as FanOut
from ..frontend.library.examples.stax import Flatten as Flatten
from ..frontend.library.examples.stax import Gelu as Gelu
from ..frontend.library.examples.stax import GeneralConv as GeneralConv
from ..frontend.library.examples.stax import GeneralConvTranspose as GeneralConvTranspose
from ..frontend.library.examples.stax import Identity as Identity
from ..frontend.library.examples.stax import LeakyRelu as LeakyRelu
from ..frontend.library.examples.stax import LogSoftmax as LogSoftmax
from ..frontend.library.examples.stax import MaxPool as MaxPool
from ..frontend.library.examples.stax import Relu as Relu
from ..frontend.library.examples.stax import Selu as Selu
from ..frontend.library.examples.stax import Sigmoid as Sigmoid
from ..frontend.library.examples.stax import Softmax as Softmax
from ..frontend.library.examples.stax import Softplus as Softplus
from ..frontend.library.examples.stax import SumPool as SumPool
from ..frontend.library.examples.stax import Tanh as Tanh
from ..frontend.library.examples.stax import elementwise as elementwise
from ..frontend.library.examples.stax import parallel as parallel
from ..frontend.library.examples.stax import serial as serial
from ..frontend.library.examples.stax import shape_dependent as shape_dependent
from ..frontend.library.initializers import glorot_normal as glorot_normal
from ..frontend.library.initializers import normal as normal
from ..frontend.library.initializers import ones as ones
from ..frontend.library.initializers import zeros as zeros
from ..frontend.library.names import public_names as _public_names
from ..frontend.library.nn import elu as elu
from ..frontend.library.nn import gelu as gelu
from ..frontend.library.nn import leaky_relu as leaky_relu
from ..frontend.library.nn import relu as relu
from ..frontend.library.nn import selu as selu
from ..frontend.library.nn import sigmoid as sigmoid
from ..frontend.library.nn import softplus as softplus
from ..frontend.library.softmax import log_softmax as log_softmax
from ..frontend.library.softmax import softmax as softmax
from ..frontend.library.softmax import standardize as standardize

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax

__all__ = _public_names(globals())
