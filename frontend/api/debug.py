"""Finding out where a value went wrong, and showing values while a program runs."""

from .frontend.library.names import public_names as _public_names
from .frontend.sharding.pictures import inspect_array_sharding as inspect_array_sharding
from .frontend.sharding.pictures import visualize_array_sharding as visualize_array_sharding
from .frontend.sharding.pictures import visualize_sharding as visualize_sharding
from .frontend.staging.debug import nans as nans
from .frontend.tracing.default_dtypes import WideningError as WideningError
from .frontend.tracing.default_dtypes import widening as widening
from .frontend.transforms import callbacks as _callbacks
from .frontend.transforms.breakpoints import breakpoint as breakpoint
from .passes.analysis.check_nans import NanError as NanError

callback = _callbacks.debug_callback
log = _callbacks.debug_log
print = _callbacks.debug_print

__all__ = _public_names(globals())
