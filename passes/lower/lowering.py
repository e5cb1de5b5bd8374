"""`Lowering`: all the forms an op's `lower` rule may use, put together."""

from __future__ import annotations

from .forms.branches import BranchForms
from .forms.convolution import ConvolutionForms
from .forms.cumulative import CumulativeForms
from .forms.effects import EffectForms
from .forms.indexing import IndexingForms
from .forms.ordering import OrderingForms
from .forms.randomness import RandomnessForms
from .forms.scans import ScanForms
from .forms.while_loops import WhileForms


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
