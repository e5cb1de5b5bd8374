"""Special functions under SciPy's names."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.special.incomplete import betainc as betainc
from ..frontend.library.special.incomplete import gammainc as gammainc
from ..frontend.library.special.incomplete import gammaincc as gammaincc
from ..frontend.library.special.scipy_names import beta as beta
from ..frontend.library.special.scipy_names import betaln as betaln
from ..frontend.library.special.scipy_names import boxcox as boxcox
from ..frontend.library.special.scipy_names import boxcox1p as boxcox1p
from ..frontend.library.special.scipy_names import digamma as digamma
from ..frontend.library.special.scipy_names import entr as entr
from ..frontend.library.special.scipy_names import erf as erf
from ..frontend.library.special.scipy_names import erfc as erfc
from ..frontend.library.special.scipy_names import erfinv as erfinv
from ..frontend.library.special.scipy_names import expit as expit
from ..frontend.library.special.scipy_names import factorial as factorial
from ..frontend.library.special.scipy_names import gamma as gamma
from ..frontend.library.special.scipy_names import gammaln as gammaln
from ..frontend.library.special.scipy_names import gammasgn as gammasgn
from ..frontend.library.special.scipy_names import i0 as i0
from ..frontend.library.special.scipy_names import i0e as i0e
from ..frontend.library.special.scipy_names import i1 as i1
from ..frontend.library.special.scipy_names import i1e as i1e
from ..frontend.library.special.scipy_names import kl_div as kl_div
from ..frontend.library.special.scipy_names import log_ndtr as log_ndtr
from ..frontend.library.special.scipy_names import log_softmax as log_softmax
from ..frontend.library.special.scipy_names import logit as logit
from ..frontend.library.special.scipy_names import logsumexp as logsumexp
from ..frontend.library.special.scipy_names import multigammaln as multigammaln
from ..frontend.library.special.scipy_names import ndtr as ndtr
from ..frontend.library.special.scipy_names import ndtri as ndtri
from ..frontend.library.special.scipy_names import poch as poch
from ..frontend.library.special.scipy_names import rel_entr as rel_entr
from ..frontend.library.special.scipy_names import softmax as softmax
from ..frontend.library.special.scipy_names import xlog1py as xlog1py
from ..frontend.library.special.scipy_names import xlogy as xlogy
from ..frontend.library.special.zeta import polygamma as polygamma
from ..frontend.library.special.zeta import zeta as zeta

__all__ = _public_names(globals())
