"""How lit runs the `.mlir` files of this folder: each through `adze opt`, its output through `filecheck`."""

# `config` and `lit_config` are lit's; it executes this file.
import os
import sys
from pathlib import Path

import lit.formats

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent

config.name = "adze"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(HERE)  # noqa: F821
config.test_exec_root = str(CHECKOUT / ".cache" / "lit")  # noqa: F821
tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
config.environment["PATH"] = tools  # noqa: F821
