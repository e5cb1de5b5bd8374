"""The error of a loop that cannot be a kernel after all: it stays on the host, as its remark says."""


class KernelError(Exception):
    """Why a loop stays on the host."""
