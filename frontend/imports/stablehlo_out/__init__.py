"""StableHLO out: any function of adze ops as the text of a StableHLO module; see `function.py`."""
