"""Run-time checks as values under the names of `jax.experimental.checkify`."""

from ..frontend.library.checks.checkify import check as check
from ..frontend.library.checks.checkify import check_error as check_error
from ..frontend.library.checks.checkify import checkify as checkify
from ..frontend.library.checks.checkify import debug_check as debug_check
from ..frontend.library.checks.errors import Error as Error
from ..frontend.library.checks.errors import ErrorCategory as ErrorCategory
from ..frontend.library.checks.errors import JaxRuntimeError as JaxRuntimeError
from ..frontend.library.checks.errors import all_checks as all_checks
from ..frontend.library.checks.errors import automatic_checks as automatic_checks
from ..frontend.library.checks.errors import div_checks as div_checks
from ..frontend.library.checks.errors import float_checks as float_checks
from ..frontend.library.checks.errors import index_checks as index_checks
from ..frontend.library.checks.errors import init_error as _init_error
from ..frontend.library.checks.errors import nan_checks as nan_checks
from ..frontend.library.checks.errors import user_checks as user_checks
from ..frontend.library.names import public_names as _public_names

init_error = _init_error()

__all__ = _public_names(globals())
