"""How a Python function becomes a `func.func`: arrays, tracers, frames, scopes, locations, specs."""
