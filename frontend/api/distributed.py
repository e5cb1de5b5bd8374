"""Jobs of several ranks: processes over MPI, or threads of this process."""

from .frontend.library.names import public_names as _public_names
from .frontend.sharding.checkpoints import CheckpointError as CheckpointError
from .frontend.sharding.checkpoints import load_checkpoint as load_checkpoint
from .frontend.sharding.checkpoints import save_checkpoint as save_checkpoint
from .runtime.distributed.jobs import initialize as initialize
from .runtime.distributed.jobs import process_count as process_count
from .runtime.distributed.jobs import process_index as process_index
from .runtime.distributed.planned import planned as planned
from .runtime.distributed.threads import run as run

__all__ = _public_names(globals())
