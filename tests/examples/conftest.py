"""What the examples jit is evaluated: they show programs, whose ops and loops other tests compile."""

from ..evaluation import jitted_functions_are_evaluated

__all__ = ["jitted_functions_are_evaluated"]
