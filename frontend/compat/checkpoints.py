"""Names of `jax.ad_checkpoint`."""

from ..transforms.checkpoints import checkpoint as checkpoint
from ..transforms.checkpoints import checkpoint_name as checkpoint_name
from ..transforms.checkpoints import checkpoint_policies as checkpoint_policies
from ..transforms.checkpoints import remat as remat

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]
