"""Programs here are evaluated, not compiled, unless a test says so in its name."""

from ...evaluation import jitted_functions_are_evaluated

__all__ = ["jitted_functions_are_evaluated"]
