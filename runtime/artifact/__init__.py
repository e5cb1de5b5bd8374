"""Programs as files: the `.vmfb` with its manifest."""
