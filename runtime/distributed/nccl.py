"""NCCL's name of a communicator: what the ranks of a channel agree on before their devices exchange arrays.

Input: none. Output: 128 bytes that name a communicator which this process is the root of. IREE makes the
communicator itself, in the CUDA device of each rank, and finds NCCL as it is found here. IREE's own way to
agree, MPI's functions in its runtime, is not used: it starts MPI again in a process that already has.
"""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np

from ...dialects.communicator import DistributedError

ID_BYTES: Final = 128
"""The size of `ncclUniqueId`."""

_LIBRARY: Final = "libnccl.so"
"""As IREE looks for it; packages of NCCL for Python have it under another name, libnccl.so.2."""

_HINT: Final = (
    "install NCCL where the loader finds libnccl.so (LD_LIBRARY_PATH), or build for cuda without +nccl: the "
    "hosts then exchange the arrays"
)


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * ID_BYTES),)


def unique_id() -> np.ndarray:
    """The name of a new communicator, u8[128].

    Raises `DistributedError` where NCCL is missing or refuses.
    """
    library = _library()
    identity = _UniqueId()
    code = library.ncclGetUniqueId(ctypes.byref(identity))
    if code:
        library.ncclGetErrorString.restype = ctypes.c_char_p
        reason = library.ncclGetErrorString(code)
        raise DistributedError(f"NCCL makes no communicator: {(reason or b'?').decode()}", hint=_HINT)
    return np.frombuffer(bytes(identity), np.uint8)


def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise DistributedError(
            f"the program's devices exchange arrays by NCCL, which is not here: {error}", hint=_HINT
        ) from None
