"""What a backward pass computes again, under the names of `jax.ad_checkpoint`."""

from .frontend.library.names import public_names as _public_names
from .frontend.staging.residuals import print_saved_residuals as print_saved_residuals
from .frontend.staging.residuals import saved_residuals as saved_residuals
from .frontend.transforms.checkpoints import checkpoint as checkpoint
from .frontend.transforms.checkpoints import checkpoint_name as checkpoint_name
from .frontend.transforms.checkpoints import checkpoint_policies as checkpoint_policies

remat = checkpoint

__all__ = _public_names(globals())
