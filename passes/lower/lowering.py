"""`Lowering`: all the forms an op's `lower` rule may use, put together."""

from __future__ import annotations

from .convolution import ConvolutionForms
from .cumulative import CumulativeForms
from .effects import EffectForms
from .indexing import IndexingForms
from .loops import LoopForms
from .ordering import OrderingForms
from .randomness import RandomnessForms


class Lowering(
    IndexingForms,
    RandomnessForms,
    LoopForms,
    EffectForms,
    CumulativeForms,
    ConvolutionForms,
    OrderingForms,
):
    """The object that `lower` rules receive as `l`."""
