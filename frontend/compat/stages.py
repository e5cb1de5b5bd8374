"""Names of `jax.stages`: the classes of a function on its way to a program."""

from ..staging.compiled import Compiled as Compiled
from ..staging.jitted import Jitted as Wrapped
from ..staging.lowered import Lowered as Lowered
from ..staging.traced import Traced as Traced

CompilerOptions = dict[str, str | bool]

__all__ = ["Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
