"""The builder that rules make ops with: its interface, and the one that writes MLIR."""
