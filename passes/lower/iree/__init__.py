"""Fences around IREE's miscompiles, one file a symptom."""
