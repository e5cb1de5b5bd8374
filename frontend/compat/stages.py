"""Names of `jax.stages`: the classes of a function on its way to a program."""

from ..staging.jitted import Jitted as Wrapped
from ..staging.stages import Compiled as Compiled
from ..staging.stages import Lowered as Lowered
from ..staging.stages import Traced as Traced

CompilerOptions = dict[str, str | bool]

__all__ = ["Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
