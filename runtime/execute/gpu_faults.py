"""What devices fail of while a program uses them: memory that is used up, and devices that are lost.

Input: what IREE raises. Output: the error for the user. Idea: a status of IREE or a code of a driver says
which of the two it is; anything else keeps IREE's own sentence. Arrays on other devices are not concerned.
"""

from __future__ import annotations

import re
from typing import Final

from ...dialects.errors import AdzeError, OutOfMemoryError
from ..errors import DeviceError, LostDeviceError

_NO_MEMORY: Final = re.compile(r"RESOURCE_EXHAUSTED|OUT_OF_(?:DEVICE_|HOST_)?MEMORY")
# Codes of CUDA and Vulkan after which nothing works any more in the context, and what IREE says from then on.
_LOST: Final = re.compile(
    r"VK_ERROR_DEVICE_LOST|CUDA_ERROR_(?:ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|LAUNCH_FAILED|LAUNCH_TIMEOUT"
    r"|MISALIGNED_ADDRESS|INVALID_PC|HARDWARE_STACK_ERROR|ASSERT|ECC_UNCORRECTABLE|CONTEXT_IS_DESTROYED"
    r"|DEVICE_UNAVAILABLE|UNKNOWN)|\bABORTED\b|\bDATA_LOSS\b"
)
_SENTENCE: Final = re.compile(r"\b[A-Z_]{4,}; (?P<text>.*?)(?:; (?:while|\[ \d+\])|\n|$)", re.DOTALL)
_HINT: Final = (
    "arrays on other devices are as they were; a new process opens the device again, if its driver lets it"
)


def is_lost(error: BaseException) -> bool:
    """Whether the device that failed so takes no more work."""
    return bool(_LOST.search(str(error)))


def lost_device(error: BaseException, device: str, doing: str) -> LostDeviceError:
    """The error for a device that was lost in a call or a copy."""
    return LostDeviceError(f"{doing}: the device {device} was lost: {reason_of(error)}", hint=_HINT)


def transfer_error(error: BaseException, device: str, what: str, direction: str) -> AdzeError:
    """The error for `what` that could not be copied `to` a device, or `from` it; adze's own errors stay."""
    if isinstance(error, AdzeError):
        return error
    text = f"{what} cannot be copied {direction} {device}"
    if is_lost(error):
        return lost_device(error, device, text)
    if _NO_MEMORY.search(str(error)):
        return OutOfMemoryError(
            f"{text}: the device has not enough memory: {reason_of(error)}",
            hint="delete arrays that are no longer used, or copy the array in parts",
        )
    return DeviceError(f"{text}: {reason_of(error)}")


def reason_of(error: BaseException) -> str:
    """The sentence inside an error of IREE."""
    text = str(error)
    match = _SENTENCE.search(text)
    return (match["text"] if match else text).strip(" ;\n").split("\n", 1)[0] or type(error).__name__
