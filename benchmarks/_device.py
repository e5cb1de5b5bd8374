"""The device that adze is measured on, and where JAX is beside it.

Input: the option `--device`. Output: the environment in which both libraries take that device.

JAX runs on a CUDA device if its plugin for CUDA is installed, and on the CPU otherwise; NumPy always runs on
the CPU. `jax_place` says so in the circumstances of a result.
"""

import argparse
import os
import sys
from importlib.util import find_spec

DEVICES = ("cpu", "vulkan", "cuda")
_CUDA_PLUGINS = ("jax_cuda13_plugin", "jax_cuda12_plugin")


def add_device_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="{cpu,vulkan,cuda}[:N]",
        help="device of adze, and of JAX where it has it",
    )


def checked_device(parser: argparse.ArgumentParser, device: str) -> str:
    """The name of a device that is here, `cpu` among them; otherwise the parser ends the program."""
    from adze import AdzeError
    from adze.runtime.execute.devices import get_device

    if device == "cpu":
        return device
    try:
        return str(get_device(device).name)
    except AdzeError as error:
        parser.error(f"--device: {error.message} ({error.hint})")


def environment_for(device: str) -> dict[str, str]:
    """The variables by which adze, and JAX where it can, compute on `device`."""
    return {"JAX_PLATFORMS": jax_place(device)} | ({} if device == "cpu" else {"ADZE_DEVICE": device})


def use_device(device: str) -> None:
    """As `environment_for`, in this process: before anything is computed, JAX may be imported."""
    os.environ.update(environment_for(device))
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_platforms", jax_place(device))


def jax_place(device: str) -> str:
    """JAX's platform beside adze on `device`."""
    has_plugin = any(find_spec(name) for name in _CUDA_PLUGINS)
    return "cuda" if device.startswith("cuda") and has_plugin else "cpu"
