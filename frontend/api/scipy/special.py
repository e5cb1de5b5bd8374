"""Special functions under SciPy's names."""

from ..frontend.special import beta as beta
from ..frontend.special import betaln as betaln
from ..frontend.special import digamma as digamma
from ..frontend.special import entr as entr
from ..frontend.special import erf as erf
from ..frontend.special import erfc as erfc
from ..frontend.special import erfinv as erfinv
from ..frontend.special import expit as expit
from ..frontend.special import gamma as gamma
from ..frontend.special import gammaln as gammaln
from ..frontend.special import gammasgn as gammasgn
from ..frontend.special import i0 as i0
from ..frontend.special import i0e as i0e
from ..frontend.special import i1 as i1
from ..frontend.special import i1e as i1e
from ..frontend.special import log_ndtr as log_ndtr
from ..frontend.special import logit as logit
from ..frontend.special import logsumexp as logsumexp
from ..frontend.special import ndtr as ndtr
from ..frontend.special import ndtri as ndtri
from ..frontend.special import rel_entr as rel_entr
from ..frontend.special import xlog1py as xlog1py
from ..frontend.special import xlogy as xlogy

__all__ = [
    "beta",
    "betaln",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "gamma",
    "gammaln",
    "gammasgn",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "rel_entr",
    "xlog1py",
    "xlogy",
]
