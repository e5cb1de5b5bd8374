"""The linalg forms that ops are lowered to, one file a family."""
