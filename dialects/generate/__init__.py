"""Generators of what follows from the declarations: the typed builder, the IRDL text, the reference page."""
