"""The error of a loop that cannot be a kernel after all: it stays on the host, which says so in its remark."""


class KernelError(Exception):
    """Why a loop stays on the host."""
