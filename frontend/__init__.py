"""From Python to adze IR and back: tracing, transforms, control flow, the library, `jit` and its stages."""
