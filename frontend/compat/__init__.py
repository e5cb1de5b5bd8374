"""JAX's module names for adze: what `adze.compat` offers to code that is written for JAX."""
