"""The console script: Ctrl-C ends it as it ends other programs, also while Python still imports modules.

Input: the command line. Output: the exit code. The one idea: a library whose import is interrupted may make
another error of the KeyboardInterrupt, so that the signal itself is remembered.
"""

from __future__ import annotations

import signal


def main() -> None:
    """Run `adze`."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # ignored: `nohup`, a shell's `&`
        from .main import main as run
    else:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from .interruption import remember
        from .main import main as run

        signal.signal(signal.SIGINT, remember)
    run()
