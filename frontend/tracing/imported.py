"""When adze was imported. The package root imports this file first of all."""

import time
from typing import Final

IMPORTED: Final = time.time()
"""Seconds since the epoch: what changed on the disk since then may not be what runs."""
