"""Programs of other frameworks as ordinary functions of adze ops."""
