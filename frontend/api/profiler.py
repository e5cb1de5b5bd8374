"""What a program does over time, under the names of `jax.profiler`: a file for Perfetto and Chrome."""

from .frontend.library.names import public_names as _public_names
from .frontend.staging.profiler import ProfileOptions as ProfileOptions
from .frontend.staging.profiler import StepTraceAnnotation as StepTraceAnnotation
from .frontend.staging.profiler import TraceAnnotation as TraceAnnotation
from .frontend.staging.profiler import annotate_function as annotate_function
from .frontend.staging.profiler import start_server as start_server
from .frontend.staging.profiler import start_trace as start_trace
from .frontend.staging.profiler import stop_server as stop_server
from .frontend.staging.profiler import stop_trace as stop_trace
from .frontend.staging.profiler import trace as trace

__all__ = _public_names(globals())
