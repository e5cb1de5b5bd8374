"""The errors of compiling, loading and running, each an `AdzeError` of its own kind.

What IREE raises (ValueError, RuntimeError, diagnostics on a callback) is translated into one of these at the
place where it is met, with the user's names in the text; raw IREE text is kept only as detail.
"""

from __future__ import annotations

from pathlib import Path

from ..dialects.errors import AdzeError


class SettingError(AdzeError, ValueError):
    """An environment variable holds a value that it cannot have."""


class TargetError(AdzeError, ValueError):
    """A compile target is unknown, or cannot be used on this machine."""


class CompileError(AdzeError, RuntimeError):
    """IREE refused a module.

    `op` is the op it named (or None), `diagnostics` everything it said, `reproducer` the folder that was
    written so that the failure can be seen again outside of this process (or None).
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        op: str | None = None,
        diagnostics: tuple[str, ...] = (),
        reproducer: Path | None = None,
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.op = op
        self.diagnostics = diagnostics
        self.reproducer = reproducer


class DeviceError(AdzeError, RuntimeError):
    """A device is missing, unknown, or not the one that an array or a program is on."""


class LostDeviceError(DeviceError):
    """A device stopped working: its arrays are gone, and it takes no more calls from this process."""


class ExportError(DeviceError, BufferError):
    """An array cannot be handed to another library in the way that was asked for."""


class ArtifactError(AdzeError, ValueError):
    """A file is not a program that this adze on this machine can run."""


class MissingArtifactError(ArtifactError, FileNotFoundError):
    """There is no such file."""


class SignatureError(ArtifactError):
    """A file is not signed by the key that was given, or was changed since."""


class KeyFileError(AdzeError, ValueError):
    """A key for signatures cannot be read, or is of another kind; or the package for them is missing."""


class OtherVersionError(ArtifactError):
    """A program was compiled by another version of IREE than the runtime is of."""


class UnreadableArtifactError(ArtifactError, OSError):
    """A file cannot be read or written."""


class MissingCompilerError(AdzeError, ImportError):
    """What was asked for is not in the distribution adze-runtime, which loads and runs programs only."""

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"{what} is not in the distribution adze-runtime, which loads and runs programs only",
            hint=hint or "pip uninstall adze-runtime, then pip install adze-compiler",
        )


class CallError(AdzeError, ValueError):
    """A call was given wrong arguments, or a check inside the program failed."""


class CallTypeError(CallError, TypeError):
    """A call was given the wrong number of arguments, or one of the wrong kind or dtype."""


class FailedCallError(CallError, RuntimeError):
    """A program failed while it ran: a check that it states, or its device."""


class HostCallError(FailedCallError, ValueError):
    """A Python function that a program calls raised; the exception is the cause of this one."""
