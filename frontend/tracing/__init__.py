"""How a Python function becomes a `func.func`: tracers and frames, user locations, dynamic sizes, specs."""
