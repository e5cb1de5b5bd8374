"""StableHLO in: a module's text becomes an ordinary function of adze ops; see `function.py`."""
