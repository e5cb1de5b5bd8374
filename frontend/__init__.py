"""From Python to adze IR and back: tracing, the array namespace, jit and its stages."""
