"""What every test shares: the compile cache's place, the chosen device, and what a machine lacks.

The cache lives under the checkout (`.cache/tests`), never in the user's own folder. `--device` runs the
tests that take the `device` fixture on another device (`vulkan` needs a driver, `cuda` a GPU). `--all` adds
what the quick selection leaves out: docs/testing.md has the rule.
Nothing here imports adze, so that a broken package still shows as failing tests, not as a broken run.
"""

import gc
import os
from pathlib import Path

import hypothesis
import pytest

from .selection import quick_selection, select_all

CHECKOUT = Path(__file__).resolve().parent.parent
DEVICES = ("cpu", "vulkan", "cuda")

# The same examples everywhere: what passes here passes in CI.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        choices=DEVICES,
        default="cpu",
        help="device for the tests that take the `device` fixture",
    )
    parser.addoption(
        "--all", action="store_true", help="run everything, not the quick selection (docs/testing.md)"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Before any test module is imported: settings read their variables once.
    cache = CHECKOUT / ".cache" / "tests"
    cache.mkdir(parents=True, exist_ok=True)
    os.environ["ADZE_CACHE_DIR"] = str(cache)
    if runs_everything(config):
        select_all()
    # Mesa keeps compiled shaders in the user's cache folder unless told otherwise.
    os.environ["MESA_SHADER_CACHE_DIR"] = str(CHECKOUT / ".cache")


def runs_everything(config: pytest.Config) -> bool:
    """Whether nothing is left out: tests that are named one by one (`file.py::test`) run as named."""
    return bool(config.getoption("--all")) or any("::" in argument for argument in config.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--all`, drop the items marked `thorough`, and of products marked so all but a cover."""
    if runs_everything(config):
        return
    kept = quick_selection(items)
    left_out = [item for item in items if item not in kept]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector does not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Bindings say at the end which of their objects are left: all are collected as if nothing was frozen."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether `--all` asks for everything, for tests that loop over their cases themselves."""
    return bool(request.config.getoption("--all"))


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The device named by `--device`: cpu, vulkan or cuda."""
    return str(request.config.getoption("--device"))


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT
