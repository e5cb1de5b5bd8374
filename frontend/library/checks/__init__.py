"""Run-time checks as values: `checkify`."""
