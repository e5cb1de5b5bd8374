"""Random numbers by explicit keys: keys, samplers, and a debug mode that finds keys used twice."""
