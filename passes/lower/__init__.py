"""From adze to linalg on tensors: one conversion pattern an op, adze illegal afterwards."""
