"""Constants of the array API: Python floats, so weakly typed, and the index that makes an axis."""

from __future__ import annotations

import math
from typing import Final

e: Final = math.e
pi: Final = math.pi
inf: Final = math.inf
nan: Final = math.nan
euler_gamma: Final = 0.5772156649015329
newaxis: Final = None
