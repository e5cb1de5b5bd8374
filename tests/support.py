"""What tests of several folders use: the compiler's own command-line tool."""

import subprocess
from pathlib import Path

import iree.compiler

CHECKOUT = Path(__file__).resolve().parent.parent
IRDL_FILE = CHECKOUT / "dialects" / "generated" / "adze.irdl.mlir"


def iree_opt(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run `text` through `iree-opt`, which learns of adze from the IRDL file."""
    tool = Path(iree.compiler.__path__[0]) / "_mlir_libs" / "iree-opt"
    return subprocess.run(
        [str(tool), f"--irdl-file={IRDL_FILE}", "-", *flags],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
