"""Faults of IREE that show in what it makes of a program on the way, one file a symptom."""
