"""`Lowering`: all the forms an op's `lower` rule may use, put together."""

from __future__ import annotations

from .branches import BranchForms
from .convolution import ConvolutionForms
from .cumulative import CumulativeForms
from .effects import EffectForms
from .indexing import IndexingForms
from .ordering import OrderingForms
from .randomness import RandomnessForms
from .scans import ScanForms
from .while_loops import WhileForms


class Lowering(
    IndexingForms,
    RandomnessForms,
    BranchForms,
    WhileForms,
    ScanForms,
    EffectForms,
    CumulativeForms,
    ConvolutionForms,
    OrderingForms,
):
    """The object that `lower` rules receive as `l`."""
