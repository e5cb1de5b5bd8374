"""Fences around the faults of IREE, one file a symptom; `docs/iree_notes.md` lists them."""
