"""Names of `jax.ad`: what a pullback is told of the cotangents of its arguments."""

from ..transforms.reference_effects import DidntWant as DidntWant
from ..transforms.reference_effects import DontWant as DontWant
from ..transforms.reference_effects import GradRef as GradRef
from ..transforms.reference_effects import GradValue as GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
