"""Differential equations under the names of `jax.experimental.ode`."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.solvers.ode import abs2 as abs2
from ..frontend.library.solvers.ode import fit_4th_order_polynomial as fit_4th_order_polynomial
from ..frontend.library.solvers.ode import initial_step_size as initial_step_size
from ..frontend.library.solvers.ode import interp_fit_dopri as interp_fit_dopri
from ..frontend.library.solvers.ode import mean_error_ratio as mean_error_ratio
from ..frontend.library.solvers.ode import odeint as odeint
from ..frontend.library.solvers.ode import optimal_step_size as optimal_step_size
from ..frontend.library.solvers.ode import runge_kutta_step as runge_kutta_step

__all__ = _public_names(globals())
